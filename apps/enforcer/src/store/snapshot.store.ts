import { randomBytes } from 'node:crypto';
import { promisify } from 'node:util';
import { gunzip, gzip } from 'node:zlib';
import { startSlices, type TenantId, type WorkSlices } from '@tollkeeper/kernel';
import { driverCollection, isDuplicateKey } from '@tollkeeper/mongo';
import { type Connection, mongo, Schema } from 'mongoose';
import type { Day, Hold } from '../domain/journal.ts';
import { createLedger, type FrozenLedger, type LedgerState, type NamedAccount } from '../domain/ledger.state.ts';

/** Most accounts and holds of a part: one is encoded or restored in a few milliseconds, and is far below 16 MiB. */
export const PART_ITEMS = 1_000;

/** A ledger after the entry `seq` of its journal. */
interface Snapshot {
  seq: number;
  ledger: LedgerState;
}

/** `unreadable` says why a snapshot that is there cannot be read; its ledger is empty then. */
interface LoadedSnapshot extends Snapshot {
  unreadable?: unknown;
}

/** The newest snapshot of each workspace. They bound how much of a journal is read to have its ledger. */
export interface SnapshotStore {
  /** The {@link LedgerState.bytes} that the ledger of the snapshot has; 0 for a workspace that has none. */
  bytesOf(tenantId: TenantId): Promise<number>;
  /** An empty ledger with `seq` 0 for a workspace that has none. In slices. */
  load(tenantId: TenantId): Promise<LoadedSnapshot>;
  /**
   * Keeps the ledger as it is at the call, unless a newer one is kept already. In slices, while the ledger may go on.
   * One at a time of a ledger.
   */
  save(tenantId: TenantId, snapshot: Snapshot): Promise<void>;
}

/** What names a snapshot and has its first part. Only one whose further parts are all there is ever written. */
interface StoredSnapshot extends mongo.Document {
  /** The workspace. */
  _id: string;
  seq: number;
  at: Date;
  /** As {@link LedgerState.bytes}. */
  bytes: number;
  /** Tells its further parts from those of other attempts. */
  attempt: string;
  /** How many further parts it has. */
  parts: number;
  /** {@link FirstPart} as JSON, compressed by gzip. */
  content: mongo.Binary;
}

interface StoredPart extends mongo.Document {
  /** `ws_…/000000000042/3f9a…/000001`: workspace, number of the entry, attempt, number of the part. */
  _id: string;
  /** {@link Part} as JSON, compressed by gzip. */
  content: mongo.Binary;
}

interface Part {
  accounts: NamedAccount[];
  holds: Hold[];
}

interface FirstPart extends Part {
  days: Day[];
}

const snapshotSchema = new Schema<StoredSnapshot>(
  { _id: String, seq: Number, at: Date, bytes: Number, attempt: String, parts: Number, content: Buffer },
  { collection: 'snapshots', versionKey: false },
);
const partSchema = new Schema<StoredPart>(
  { _id: String, content: Buffer },
  { collection: 'snapshot_parts', versionKey: false },
);

const compress = promisify(gzip);
const decompress = promisify(gunzip);

/** Snapshots in the database of `connection`. Make it before the connection starts. */
export function createSnapshotStore(connection: Connection): SnapshotStore {
  const snapshots = driverCollection(connection, 'Snapshot', snapshotSchema);
  const parts = driverCollection(connection, 'SnapshotPart', partSchema);
  // What a majority has of the head, it has of the parts that were written before.
  const reading = { readConcern: { level: 'majority' } } as const;

  /** Undefined if parts are missing. */
  async function restore(tenantId: TenantId, { seq, attempt, parts: count, content }: StoredSnapshot) {
    const ledger = createLedger();
    const slices = startSlices();
    const { days, ...first } = (await decode(content)) as FirstPart;
    for (const day of days) ledger.addDay(day);
    await addTo(ledger, first, slices);
    const prefix = prefixOf(tenantId, seq, attempt);
    let found = 0;
    for await (const part of parts.find({ _id: between(prefix) }, { ...reading, batchSize: 16 }).sort({ _id: 1 })) {
      await addTo(ledger, (await decode(part.content)) as Part, slices);
      found += 1;
    }
    return found === count ? ledger : undefined;
  }

  /** Writes the head and removes what it replaces. Its own parts go if a newer snapshot is there. */
  async function replace(tenantId: TenantId, head: Omit<StoredSnapshot, '_id'>): Promise<void> {
    const { seq } = head;
    const own = prefixOf(tenantId, seq, head.attempt);
    try {
      await snapshots.updateOne({ _id: tenantId, seq: { $lt: seq } }, { $set: head }, { upsert: true });
    } catch (error) {
      // There is one, and it is newer.
      if (!isDuplicateKey(error)) throw error;
      await parts.deleteMany({ _id: between(own) });
      return;
    }
    // Of former snapshots, and of attempts that were cut short. One in progress with a higher number may still count.
    const upTo = between(`${tenantId}/`, prefixOf(tenantId, seq, '~'));
    await parts.deleteMany({ $and: [{ _id: upTo }, { _id: { $not: between(own) } }] });
  }

  return {
    async bytesOf(tenantId) {
      const stored = await snapshots.findOne({ _id: tenantId }, { ...reading, projection: { bytes: 1 } });
      return stored?.bytes ?? 0;
    },

    async load(tenantId) {
      let last: string | undefined;
      for (;;) {
        const head = await snapshots.findOne({ _id: tenantId }, reading);
        if (head === null) return { seq: 0, ledger: createLedger() };
        const { seq, attempt } = head;
        try {
          const ledger = await restore(tenantId, head);
          if (ledger !== undefined) return { seq, ledger };
          if (attempt === last) throw new Error('Parts of the snapshot are missing');
        } catch (error) {
          if (error instanceof mongo.MongoError) throw error;
          return { seq, ledger: createLedger(), unreadable: error };
        }
        // Another replica has replaced it while it was read.
        last = attempt;
      }
    },

    async save(tenantId, { seq, ledger }) {
      const { bytes } = ledger;
      const frozen = ledger.freeze();
      const attempt = randomBytes(8).toString('hex');
      const prefix = prefixOf(tenantId, seq, attempt);
      const slices = startSlices();
      let first: mongo.Binary | undefined;
      let count = 0;
      try {
        for (const part of partsOf(frozen)) {
          const content = new mongo.Binary(await compress(JSON.stringify(part)));
          if (first === undefined) first = content;
          else {
            count += 1;
            await parts.insertOne({ _id: `${prefix}${String(count).padStart(6, '0')}`, content });
          }
          if (slices.usedUp()) await slices.next();
        }
      } finally {
        frozen.thaw();
      }
      await replace(tenantId, { seq, at: new Date(), bytes, attempt, parts: count, content: first! });
    },
  };
}

/**
 * The parts of a snapshot, each made when it is asked for. There is always a first one. Nothing is taken before a part
 * is handed out and put into the next one: the ledger continues in between, and would have changed it.
 */
function* partsOf({ days, holds, accounts }: FrozenLedger): Generator<Part | FirstPart> {
  let part: Part | FirstPart = { days: [...days], accounts: [], holds: [] };
  let items = 0;
  for (const account of accounts()) {
    part.accounts.push(account);
    items += 1;
    if (items < PART_ITEMS) continue;
    yield part;
    [part, items] = [{ accounts: [], holds: [] }, 0];
  }
  for (const hold of holds) {
    part.holds.push(hold);
    items += 1;
    if (items < PART_ITEMS) continue;
    yield part;
    [part, items] = [{ accounts: [], holds: [] }, 0];
  }
  yield part;
}

async function decode({ buffer }: mongo.Binary): Promise<unknown> {
  return JSON.parse((await decompress(buffer)).toString());
}

async function addTo(ledger: LedgerState, { accounts, holds }: Part, slices: WorkSlices): Promise<void> {
  for (const [day, name, account] of accounts) Object.assign(ledger.account(day, name)!, account);
  for (const hold of holds) ledger.setHold(hold);
  if (slices.usedUp()) await slices.next();
}

function prefixOf(tenantId: TenantId, seq: number, attempt: string): string {
  return `${tenantId}/${String(seq).padStart(12, '0')}/${attempt}/`;
}

/** The ids from one prefix to the end of another; of one prefix, all that have it. No id has a character behind `~`. */
function between(from: string, to = from) {
  return { $gt: from, $lt: `${to}~` };
}
