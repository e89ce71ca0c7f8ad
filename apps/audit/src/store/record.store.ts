import { isDeepStrictEqual } from 'node:util';
import type { AuditChange, ReadAuditRecord } from '@tollkeeper/contracts';
import { provenTenantId, type TenantId } from '@tollkeeper/kernel';
import { driverCollection } from '@tollkeeper/mongo';
import { type ClientSession, type Connection, type mongo, Schema } from 'mongoose';
import {
  type Entry,
  entryAfter,
  type ListPlace,
  type Place,
  type RecordFilter,
  type RecordReader,
  RETENTION_DAYS,
} from '../domain/entry.ts';
import { facetOf, facetsOf } from '../domain/facets.ts';

interface StoredEntry {
  /** The id of the record, so that it is stored only once. */
  _id: string;
  tenantId: string;
  sequence: number;
  recordedAt: Date;
  previous: Entry['previous'];
  hash: string;
  facets: string[];
  occurredAt: Date;
  actor: Entry['actor'];
  action: string;
  target: Entry['target'];
  changes: AuditChange[];
  address: string | null;
  userAgent: string | null;
  requestId: string | null;
}

/** The end of a workspace's chain. */
interface StoredHead extends Place {
  _id: string;
}

const text = { type: String, required: true } as const;
const mixed = Schema.Types.Mixed;

const entrySchema = new Schema<StoredEntry>(
  {
    _id: text,
    tenantId: text,
    sequence: Number,
    recordedAt: Date,
    previous: mixed,
    hash: text,
    facets: [String],
    occurredAt: Date,
    actor: mixed,
    action: text,
    target: mixed,
    changes: [mixed],
    address: String,
    userAgent: String,
    requestId: String,
  },
  { collection: 'records', versionKey: false },
);
// A record is in this index once per facet, so the last field is short.
entrySchema.index({ tenantId: 1, facets: 1, occurredAt: -1, sequence: -1 });
// Refuses one of two concurrent writers of a chain, whatever else fails.
entrySchema.index({ tenantId: 1, sequence: 1 }, { unique: true });
entrySchema.index({ recordedAt: 1 }, { expireAfterSeconds: RETENTION_DAYS * 86_400 });

const headSchema = new Schema<StoredHead>(
  { _id: text, sequence: Number, hash: text, recordedAt: Date },
  { collection: 'chains', versionKey: false },
);

export interface RecordStore extends RecordReader {
  /** Adds the new ones among the records to the chains of their workspaces. Returns their number. */
  append(session: ClientSession, records: readonly ReadAuditRecord[], now: number): Promise<number>;
  /** Adds entries that follow the ends of their chains, in order. */
  insert(session: ClientSession | undefined, added: readonly Entry[]): Promise<void>;
  /** Each workspace that has or had records, once or twice. */
  workspaces(): AsyncIterable<string>;
  /** The end of a chain; null for a workspace without one. */
  head(tenantId: string): Promise<Place | null>;
  /** The stored chain in the order of its sequence. `isListed`: the entry is in all lists that should have it. */
  chain(tenantId: string): AsyncIterable<Entry & { isListed: boolean }>;
}

/** Records in the database of `connection`. Make it before the connection starts. */
export function createRecordStore(connection: Connection): RecordStore {
  const entries = driverCollection(connection, 'AuditEntry', entrySchema);
  const heads = driverCollection(connection, 'AuditHead', headSchema);

  async function headsOf(session: ClientSession, tenantIds: readonly TenantId[]): Promise<Map<string, Place>> {
    const found = await heads.find({ _id: { $in: [...tenantIds] } }, { session }).toArray();
    return new Map(found.map(({ _id, ...place }) => [_id, place]));
  }

  async function insert(session: ClientSession | undefined, added: readonly Entry[]): Promise<void> {
    await entries.insertMany(added.map(toStored), { session });
    const ends = new Map(added.map((entry) => [entry.tenantId, entry]));
    await heads.bulkWrite(
      [...ends].map(([tenantId, { sequence, hash, recordedAt }]) => {
        const update = { $set: { sequence, hash, recordedAt } };
        return { updateOne: { filter: { _id: tenantId }, update, upsert: true } };
      }),
      { session },
    );
  }

  return {
    async append(session, records, now) {
      const byId = new Map(records.map((record) => [record.id, record]));
      const known = await entries
        .find({ _id: { $in: [...byId.keys()] } }, { session, projection: { _id: 1 } })
        .toArray();
      for (const { _id } of known) byId.delete(_id);
      const fresh = [...byId.values()];
      if (fresh.length === 0) return 0;
      const ends = await headsOf(session, [...new Set(fresh.map(({ tenantId }) => tenantId))]);
      const added = fresh.map((record) => {
        const entry = entryAfter(ends.get(record.tenantId) ?? null, record, now);
        ends.set(record.tenantId, entry);
        return entry;
      });
      await insert(session, added);
      return added.length;
    },

    insert,

    async list(tenantId, filter, { limit, after }) {
      const found = await entries
        .find(toFilter(tenantId, filter, after))
        .sort({ occurredAt: -1, sequence: -1 })
        .limit(limit + 1)
        .toArray();
      const page = found.slice(0, limit);
      const last = found.length > limit ? page.at(-1) : undefined;
      return {
        entries: page.map(toEntry),
        next: last === undefined ? null : { time: last.occurredAt.getTime(), sequence: last.sequence },
      };
    },

    async find(tenantId, recordId) {
      const found = await entries.findOne({ _id: recordId, tenantId });
      return found === null ? null : toEntry(found);
    },

    async *workspaces() {
      for await (const { _id } of heads.find({}, { projection: { _id: 1 } })) yield _id;
      // Steps from one workspace to the next, because the answer to `distinct` could be too large.
      for (let last = ''; ;) {
        const next = await entries.findOne(
          { tenantId: { $gt: last } },
          { projection: { tenantId: 1 }, sort: { tenantId: 1, sequence: 1 } },
        );
        if (next === null) return;
        last = next.tenantId;
        yield last;
      }
    },

    async head(tenantId) {
      const found = await heads.findOne({ _id: tenantId });
      if (found === null) return null;
      const { sequence, hash, recordedAt } = found;
      return { sequence, hash, recordedAt };
    },

    async *chain(tenantId) {
      for await (const stored of entries.find({ tenantId }).sort({ sequence: 1 }).batchSize(500)) {
        const entry = toEntry(stored);
        yield { ...entry, isListed: isDeepStrictEqual(stored.facets, facetsOf(entry)) };
      }
    },
  };
}

function toFilter(tenantId: TenantId, filter: RecordFilter, after: ListPlace | undefined): mongo.Filter<StoredEntry> {
  const { actorId, action, targetType, targetId, from, to } = filter;
  const occurredAt = {
    ...(from !== undefined && { $gte: new Date(from) }),
    ...(to !== undefined && { $lt: new Date(to) }),
    ...(after && { $lte: new Date(after.time) }),
  };
  return {
    tenantId,
    facets: facetOf(filter),
    ...(actorId !== undefined && { 'actor.id': actorId }),
    ...(action !== undefined && { action }),
    ...(targetType !== undefined && { 'target.type': targetType }),
    ...(targetId !== undefined && { 'target.id': targetId }),
    ...(Object.keys(occurredAt).length > 0 && { occurredAt }),
    ...(after && { $or: [{ occurredAt: { $lt: new Date(after.time) } }, { sequence: { $lt: after.sequence } }] }),
  } as mongo.Filter<StoredEntry>;
}

function toStored({ id, occurredAt, ...entry }: Entry): StoredEntry {
  return { _id: id, ...entry, facets: facetsOf(entry), occurredAt: new Date(occurredAt) };
}

function toEntry({ _id, tenantId, facets: _facets, occurredAt, ...stored }: StoredEntry): Entry {
  return { ...stored, id: _id, tenantId: provenTenantId(tenantId), occurredAt: occurredAt.toISOString() };
}
