import { randomBytes } from 'node:crypto';
import { promisify } from 'node:util';
import { gunzip, gzip } from 'node:zlib';
import { startSlices, type TenantId, type WorkSlices } from '@tollkeeper/kernel';
import { driverCollection, isDuplicateKey } from '@tollkeeper/mongo';
import { type Connection, mongo, Schema } from 'mongoose';
import type { BudgetScope } from '@tollkeeper/contracts';
import type { AccountKey, Day, Hold } from '../domain/journal.ts';
import { type Account, dailyAccount, isDailyMeter } from '../domain/ledger.ts';
import type { MeterPeriod } from '../domain/ledger.accounts.ts';
import type { Fill, Meter } from '../domain/metering.ts';
import { createLedger, type FrozenLedger, type LedgerState } from '../domain/ledger.state.ts';

/** Maximum number of accounts and holds in a part, which is then processed in milliseconds and far below 16 MiB. */
export const PART_ITEMS = 1_000;

/** A ledger including the entry `seq` of its journal. */
interface Snapshot {
  seq: number;
  ledger: LedgerState;
}

/** `unreadable` is why the stored snapshot cannot be read; its ledger is empty then. */
interface LoadedSnapshot extends Snapshot {
  unreadable?: unknown;
}

/** The newest snapshot of each workspace. It bounds how much of a journal must be read to load the ledger. */
export interface SnapshotStore {
  /** The {@link LedgerState.bytes} of the snapshot's ledger; 0 if the workspace has no snapshot. */
  bytesOf(tenantId: TenantId): Promise<number>;
  /** Without a snapshot, an empty ledger with `seq` 0. Works in slices. */
  load(tenantId: TenantId): Promise<LoadedSnapshot>;
  /**
   * Stores the ledger as it is at the call, unless a newer one is stored. Works in slices, while the ledger may change.
   * One at a time per ledger.
   */
  save(tenantId: TenantId, snapshot: Snapshot): Promise<void>;
}

/** The head of a snapshot, with its first part. It is written only after all further parts. */
interface StoredSnapshot extends mongo.Document {
  /** The workspace. */
  _id: string;
  seq: number;
  at: Date;
  /** The value of {@link LedgerState.bytes}. */
  bytes: number;
  /** Distinguishes its further parts from those of other attempts. */
  attempt: string;
  /** Number of further parts. */
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
  /** Those of daily budgets. */
  accounts: [day: number, name: { scope: BudgetScope; scopeId: string }, account: Readonly<Account>][];
  /** Those of other budgets; may be absent. */
  budgets?: [AccountKey, Readonly<Account>][];
  holds: Hold[];
}

/**
 * With leases, and once there have been meters, the days have another name: release 0.1.0 would take leases for
 * reservations, lose the periods, and grant what their budgets deny. So it cannot read the snapshot, and reads the
 * journal instead, which it refuses for the same reason.
 */
type FirstPart = Part & ({ days: Day[] } | ({ daysWithPeriods: Day[]; periods: MeterPeriod[] } & StoredMetering));

interface StoredMetering {
  version: number;
  meters: (readonly [name: string, meter: Meter])[];
  fill: Fill | null;
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
  // If a majority has the head, it has the parts, which were written before.
  const reading = { readConcern: { level: 'majority' } } as const;

  /** Undefined if parts are missing. */
  async function restore(tenantId: TenantId, { seq, attempt, parts: count, content }: StoredSnapshot) {
    const ledger = createLedger();
    const slices = startSlices();
    const first = (await decode(content)) as FirstPart;
    begin(ledger, first);
    await addTo(ledger, first, slices);
    const prefix = prefixOf(tenantId, seq, attempt);
    let found = 0;
    for await (const part of parts.find({ _id: between(prefix) }, { ...reading, batchSize: 16 }).sort({ _id: 1 })) {
      await addTo(ledger, (await decode(part.content)) as Part, slices);
      found += 1;
    }
    return found === count ? ledger : undefined;
  }

  /** Writes the head and removes what it replaces. If a newer snapshot exists, removes its own parts instead. */
  async function replace(tenantId: TenantId, head: Omit<StoredSnapshot, '_id'>): Promise<void> {
    const { seq } = head;
    const own = prefixOf(tenantId, seq, head.attempt);
    try {
      await snapshots.updateOne({ _id: tenantId, seq: { $lt: seq } }, { $set: head }, { upsert: true });
    } catch (error) {
      // A duplicate key means that a newer one exists.
      if (!isDuplicateKey(error)) throw error;
      await parts.deleteMany({ _id: between(own) });
      return;
    }
    // Parts of former snapshots and of aborted attempts; not those with a higher number, which may be in progress.
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
        // Another replica replaced it during the read.
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
 * Yields the parts of a snapshot, at least one. Each part is taken from the ledger only when it is requested, because
 * the ledger continues between two parts and could change what was taken earlier.
 */
function* partsOf({ days, periods, metering, holds, accounts }: FrozenLedger): Generator<Part | FirstPart> {
  const empty = (): Part => ({ accounts: [], budgets: [], holds: [] });
  const { version, meters, fill } = metering;
  const isReadableByAll = version === 0 && !holds.some(({ lease }) => lease !== undefined);
  const head = isReadableByAll
    ? { days: [...days] }
    : { daysWithPeriods: [...days], periods: [...periods], version, meters: [...meters], fill };
  let part: Part | FirstPart = { ...head, ...empty() };
  let items = 0;
  for (const [key, account] of accounts()) {
    const [meter, start, value] = key;
    if (isDailyMeter(meter)) part.accounts.push([start, { scope: meter, scopeId: value }, account]);
    else part.budgets?.push([key, account]);
    items += 1;
    if (items < PART_ITEMS) continue;
    yield part;
    [part, items] = [empty(), 0];
  }
  for (const hold of holds) {
    part.holds.push(hold);
    items += 1;
    if (items < PART_ITEMS) continue;
    yield part;
    [part, items] = [empty(), 0];
  }
  yield part;
}

function begin(ledger: LedgerState, first: FirstPart): void {
  for (const day of 'days' in first ? first.days : first.daysWithPeriods) ledger.addDay(day);
  if (!('periods' in first)) return;
  const { periods, version, meters, fill } = first;
  for (const { meter, ...period } of periods) ledger.addPeriod(meter, period);
  ledger.setMetering({ version, meters: new Map(meters), fill });
}

async function decode({ buffer }: mongo.Binary): Promise<unknown> {
  return JSON.parse((await decompress(buffer)).toString());
}

async function addTo(ledger: LedgerState, { accounts, budgets = [], holds }: Part, slices: WorkSlices): Promise<void> {
  for (const [day, { scope, scopeId }, account] of accounts) put(ledger, dailyAccount(scope, day, scopeId), account);
  for (const [key, account] of budgets) put(ledger, key, account);
  for (const hold of holds) ledger.setHold(hold);
  if (slices.usedUp()) await slices.next();
}

function put(ledger: LedgerState, key: AccountKey, account: Readonly<Account>): void {
  const place = ledger.account(key);
  if (place !== undefined) Object.assign(place, account);
}

function prefixOf(tenantId: TenantId, seq: number, attempt: string): string {
  return `${tenantId}/${String(seq).padStart(12, '0')}/${attempt}/`;
}

/** A filter for the ids with a prefix, or from one prefix through another. `~` sorts behind all characters of ids. */
function between(from: string, to = from) {
  return { $gt: from, $lt: `${to}~` };
}
