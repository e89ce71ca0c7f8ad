import { hash } from 'node:crypto';
import type { AuditTrail } from '@tollkeeper/audit-trail';
import type { TenantId } from '@tollkeeper/kernel';
import { driverCollection, isDuplicateKey, withTransaction } from '@tollkeeper/mongo';
import { type Connection, mongo, Schema } from 'mongoose';
import type { Audited } from '../domain/decision.ts';
import { keysOf, onlyWanted, type Op, type PlacedOp } from '../domain/journal.ts';
import type { GrantReader, PlacedGrant } from '../domain/reservation.list.ts';

/** How long entries are kept: longer than reservations can be read and settlements are recognized. */
const KEEP_SECONDS = 4 * 86_400;
/** Number of entries per batch of MongoDB. */
const READ_ENTRIES = 200;
/** Number of entries or grants listed at once. */
const LIST_ENTRIES = 50;
/** An entry has up to 14 MB, if it grants 1,000 reservations with the longest labels. */
const LIST_BATCH = 4;
const MAX_GRANTS = 500;

/** A change of a workspace's ledger. Entries are numbered 1, 2, 3 … without gaps. */
export interface Entry {
  seq: number;
  /** When it was decided, epoch milliseconds. */
  at: number;
  ops: Op[];
}

/** The result of an append: `behind` if the number is taken, `repeated` if a key of its ops is taken. */
type Appended = 'added' | 'behind' | 'repeated';

/** The journals of all workspaces. Writes are journaled by a majority of MongoDB's replica set. */
export interface JournalStore extends GrantReader {
  /** `audited` is written to the audit trail together with the entry. */
  append(tenantId: TenantId, entry: Entry, audited?: readonly Audited[]): Promise<Appended>;
  /** The entries with numbers above `seq`, in order, as of the start of the read. Each is decoded on its own. */
  readAfter(tenantId: TenantId, seq: number): AsyncIterable<Entry>;
  /** The ops that have the keys, by key. Of several settlements, an op has those with one of the keys. */
  find(tenantId: TenantId, keys: readonly string[]): Promise<Map<string, PlacedOp>>;
}

interface StoredEntry extends mongo.Document {
  /** `ws_…/000000000042`: workspace and number. If two writers use a number, one gets a duplicate key error. */
  _id: string;
  at: Date;
  /** Digests of the ops' keys. Never empty, since a unique index treats all empty arrays as equal. */
  keys: mongo.Binary[];
  ops: (Op | typeof NAMES_ACCOUNTS)[];
}

/**
 * The first op of an entry in which ops name accounts of budgets. Only the store knows it. Release 0.1.0 would ignore
 * these accounts and grant what their budgets deny; an op that it does not know makes it refuse the whole entry.
 */
const NAMES_ACCOUNTS = { op: 'names_accounts' } as const;

const entrySchema = new Schema<StoredEntry>(
  { _id: String, at: Date, keys: [Buffer], ops: [Schema.Types.Mixed] },
  { collection: 'journal', versionKey: false },
);
entrySchema.index({ keys: 1 }, { unique: true });
entrySchema.index({ at: 1 }, { expireAfterSeconds: KEEP_SECONDS });

/** Journals in the database of `connection`. Make it before the connection starts. */
export function createJournalStore(connection: Connection, trail: Pick<AuditTrail, 'record'>): JournalStore {
  const entries = driverCollection(connection, 'JournalEntry', entrySchema);
  // Majority reads cannot be rolled back, so no decision based on them must be undone.
  const reading = { readConcern: { level: 'majority' } } as const;

  /** An entry without audit records, as nearly all are, needs no transaction. */
  async function insert(tenantId: TenantId, entry: StoredEntry, audited: readonly Audited[]): Promise<void> {
    if (audited.length === 0) return void (await entries.insertOne(entry));
    await withTransaction(connection, async (session) => {
      await entries.insertOne(entry, { session });
      for (const { cause, ...done } of audited) await trail.record(session, tenantId, cause, done);
    });
  }

  return {
    async append(tenantId, { seq, at, ops }, audited = []) {
      const keys = ops.flatMap(keysOf);
      const _id = idOf(tenantId, seq);
      const digests = (keys.length === 0 ? [`entry/${seq}`] : keys).map((key) => digest(tenantId, key));
      try {
        await insert(tenantId, { _id, at: new Date(at), keys: digests, ops: toStored(ops) }, audited);
        return 'added';
      } catch (error) {
        if (!isDuplicateKey(error)) throw error;
        const pattern = (error as { keyPattern?: object }).keyPattern ?? {};
        return 'keys' in pattern ? 'repeated' : 'behind';
      }
    },

    async *readAfter(tenantId, seq) {
      const found = entries
        .find(
          { _id: { $gt: idOf(tenantId, seq), $lte: idOf(tenantId, MAX_SEQ) } },
          { ...reading, batchSize: READ_ENTRIES },
        )
        .project<StoredEntry>({ keys: 0 })
        .sort({ _id: 1 });
      for await (const entry of found) yield toEntry(entry);
    },

    async grantsBefore(tenantId, kind, place, since) {
      const { seq, index } = place ?? { seq: MAX_SEQ, index: 0 };
      const found = entries
        .find({ _id: { $gt: idOf(tenantId, 0), $lte: idOf(tenantId, seq) } }, { ...reading, batchSize: LIST_BATCH })
        .project<StoredEntry>({ keys: 0 })
        .sort({ _id: -1 })
        .limit(LIST_ENTRIES);
      const grants: PlacedGrant[] = [];
      const recent: number[] = [];
      for await (const stored of found) {
        const entry = toEntry(stored);
        if (entry.at < since) continue;
        recent.push(entry.seq);
        const placed = entry.ops
          .map((grant, at) => ({ seq: entry.seq, index: at, grant }))
          .filter((each): each is PlacedGrant => each.grant.op === kind)
          .filter((each) => entry.seq !== seq || each.index < index);
        grants.push(...placed.reverse());
        if (grants.length <= MAX_GRANTS) continue;
        const chosen = grants.slice(0, MAX_GRANTS);
        return { grants: chosen, next: chosen.at(-1)! };
      }
      return { grants, next: recent.length < LIST_ENTRIES ? null : { seq: recent.at(-1)!, index: 0 } };
    },

    async find(tenantId, keys) {
      const wanted = new Set(keys);
      const digests = keys.map((key) => digest(tenantId, key));
      const found = entries.find({ keys: { $in: digests } }, { ...reading, batchSize: LIST_BATCH });
      const places = new Map<string, PlacedOp>();
      // Entry by entry, and of each only what is wanted: a thousand keys may be in as many entries with thousands each.
      for await (const entry of found.project<StoredEntry>({ ops: 1 })) {
        for (const op of fromStored(entry.ops)) {
          const own = keysOf(op).filter((key) => wanted.has(key));
          if (own.length === 0) continue;
          const place = { seq: seqOf(entry), op: onlyWanted(op, wanted) };
          for (const key of own) places.set(key, place);
        }
      }
      return places;
    },
  };
}

/** The largest number that an id has room for. */
const MAX_SEQ = 999_999_999_999;

function idOf(tenantId: TenantId, seq: number): string {
  return `${tenantId}/${String(seq).padStart(12, '0')}`;
}

function toEntry({ _id, at, ops }: StoredEntry): Entry {
  return { seq: seqOf({ _id }), at: at.getTime(), ops: fromStored(ops) };
}

function seqOf({ _id }: Pick<StoredEntry, '_id'>): number {
  return Number(_id.slice(_id.lastIndexOf('/') + 1));
}

function toStored(ops: Op[]): StoredEntry['ops'] {
  const hasAccounts = ops.some((op) => op.op === 'period' || ('accounts' in op && op.accounts !== undefined));
  return hasAccounts ? [NAMES_ACCOUNTS, ...ops] : ops;
}

function fromStored(ops: StoredEntry['ops']): Op[] {
  return ops.filter((op): op is Op => op.op !== NAMES_ACCOUNTS.op);
}

/** Includes the workspace, so that keys of different workspaces never collide. */
function digest(tenantId: TenantId, key: string): mongo.Binary {
  return new mongo.Binary(hash('sha256', `${tenantId}/${key}`, 'buffer').subarray(0, 16));
}
