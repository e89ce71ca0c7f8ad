import { promisify } from 'node:util';
import { gunzip, gzip } from 'node:zlib';
import { mapInSlices, type TenantId } from '@tollkeeper/kernel';
import { driverCollection, isDuplicateKey } from '@tollkeeper/mongo';
import { type Connection, mongo, Schema } from 'mongoose';
import type { Hold } from '../domain/journal.ts';
import type { Account, AccountName, Day } from '../domain/ledger.ts';
import { createLedger, type LedgerState } from '../domain/ledger.state.ts';

/** A ledger after the entry `seq` of its journal. */
export interface Snapshot {
  seq: number;
  ledger: LedgerState;
}

/** `unreadable` says why a snapshot that is there cannot be read; its ledger is empty then. */
export interface LoadedSnapshot extends Snapshot {
  unreadable?: unknown;
}

/** The newest snapshot of each workspace. They bound how much of a journal is read to have its ledger. */
export interface SnapshotStore {
  /** An empty ledger with `seq` 0 for a workspace that has none. */
  load(tenantId: TenantId): Promise<LoadedSnapshot>;
  /** Keeps the ledger as it is at the call, unless a newer one is kept already. */
  save(tenantId: TenantId, snapshot: Snapshot): Promise<void>;
}

interface StoredSnapshot extends mongo.Document {
  /** The workspace. */
  _id: string;
  seq: number;
  at: Date;
  /** {@link Content} as JSON, compressed by gzip. */
  content: mongo.Binary;
}

interface Content {
  days: (Day & { accounts: [AccountName, Account][] })[];
  holds: Hold[];
}

const snapshotSchema = new Schema<StoredSnapshot>(
  { _id: String, seq: Number, at: Date, content: Buffer },
  { collection: 'snapshots', versionKey: false },
);

const compress = promisify(gzip);
const decompress = promisify(gunzip);

/** Snapshots in the database of `connection`. Make it before the connection starts. */
export function createSnapshotStore(connection: Connection): SnapshotStore {
  const snapshots = driverCollection(connection, 'Snapshot', snapshotSchema);

  return {
    async load(tenantId) {
      const stored = await snapshots.findOne({ _id: tenantId }, { readConcern: { level: 'majority' } });
      if (stored === null) return { seq: 0, ledger: createLedger() };
      try {
        return { seq: stored.seq, ledger: await restore(stored.content.buffer) };
      } catch (error) {
        return { seq: stored.seq, ledger: createLedger(), unreadable: error };
      }
    },

    async save(tenantId, { seq, ledger }) {
      const holds = [...ledger.holds()];
      const days = ledger.days.map(({ start, end, timezone }) => ({
        ...{ start, end, timezone },
        accounts: [...ledger.accountsOf(start)].map(([name, account]) => [
          name,
          { ...account, overspend: { ...account.overspend } },
        ]),
      }));
      const parts = await mapInSlices(holds, (hold) => JSON.stringify(hold));
      const text = `{"days":${JSON.stringify(days)},"holds":[${parts.join()}]}`;
      const content = new mongo.Binary(await compress(text));
      try {
        await snapshots.updateOne(
          { _id: tenantId, seq: { $lt: seq } },
          { $set: { seq, at: new Date(), content } },
          { upsert: true },
        );
      } catch (error) {
        // There is one, and it is newer.
        if (!isDuplicateKey(error)) throw error;
      }
    },
  };
}

async function restore(content: Uint8Array): Promise<LedgerState> {
  const { days, holds } = JSON.parse((await decompress(content)).toString()) as Content;
  const ledger = createLedger();
  for (const { accounts, ...day } of days) {
    ledger.addDay(day);
    for (const [name, account] of accounts) Object.assign(ledger.account(day.start, name)!, account);
  }
  for (const hold of holds) ledger.setHold(hold);
  return ledger;
}
