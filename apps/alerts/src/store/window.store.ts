import type { RuleKind } from '@tollkeeper/contracts';
import { provenTenantId, type TenantId } from '@tollkeeper/kernel';
import { driverCollection } from '@tollkeeper/mongo';
import { type ClientSession, type Connection, mongo, Schema } from 'mongoose';
import type { SavedCondition } from '../domain/condition.ts';
import type { Span } from '../domain/coverage.ts';
import { HELD_BYTES_PER_WINDOW, type SavedWindow } from '../domain/partition.evaluator.ts';
import type { SavedHistory } from '../domain/rule.history.ts';
import { BYTES_PER_ENTRY, type EntryForm, isWhole, joinParts, type SavedSum } from '../domain/sliding-sum.ts';
import { FORMS } from '../domain/sum.condition.ts';
import type { RuleReference } from './rule.store.ts';

interface StoredWindow {
  /** Id of the rule. */
  _id: string;
  tenantId: string;
  partition: number;
  revision: number;
  lastFiredAt: Date | null;
  metUntil: Date | null;
  kind?: RuleKind;
  /** Of the entries and parts of a sum; absent in windows from before there was more than one for a kind. */
  form?: EntryForm;
  /**
   * Of a sum: its entries when it was last saved whole. Float64 in little endian, as every platform that Node runs on
   * has them.
   */
  entries?: mongo.Binary;
  /** What later saves have added, in the same form. With `entries` they have the newest `size` entries. */
  parts?: mongo.Binary[];
  size?: number;
  /** In place of `entries`, in windows that 0.1 stored; null in those of a `first_occurrence`. */
  times?: mongo.Binary | null;
  identities?: mongo.Binary | null;
  /** In place of `entries`, in windows that were stored between 0.1 and the next release. */
  occurrences?: mongo.Binary | null;
  sampleIds: string[];
  spans: Span[];
  decisions?: SavedHistory['decisions'];
  minutes?: SavedHistory['minutes'];
}

const windowSchema = new Schema<StoredWindow>(
  {
    _id: { type: String, required: true },
    tenantId: { type: String, required: true },
    partition: { type: Number, required: true },
  },
  { collection: 'windows', versionKey: false },
);
/** Answers {@link WindowStore.references} alone. */
windowSchema.index({ partition: 1, tenantId: 1, _id: 1 });
/** Answers {@link WindowStore.lastFires} alone: a window may have 16 bytes for each event of its rule's threshold. */
const LAST_FIRES = { _id: 1, lastFiredAt: 1 } as const;
windowSchema.index(LAST_FIRES);

/** How far a condition was known to be met when a window was saved. */
export interface WindowProgress {
  revision: number;
  /** Epoch milliseconds; null when it is not met. */
  metUntil: number | null;
}

/** Documents that are read at a time. MongoDB answers 16 MB at a time at most. */
const READ_AT_A_TIME = 1000;

/** The windows of rules, saved with the position up to which the log has filled them. */
export interface WindowStore {
  /** The windows of these workspaces, one after the other. */
  load(partition: number, tenantIds: readonly TenantId[]): AsyncIterable<SavedWindow>;
  /** How many bytes of memory the windows of the workspace take once they are loaded, about. */
  sizeOf(partition: number, tenantId: TenantId): Promise<number>;
  /** The rules that have windows in the partition, some at a time. */
  references(partition: number): AsyncIterable<RuleReference[]>;
  /** Stores what has changed of windows that are stored, or are new. */
  save(session: ClientSession, partition: number, windows: readonly SavedWindow[]): Promise<void>;
  /** By rule id. */
  progress(ruleIds: readonly string[]): Promise<Map<string, WindowProgress>>;
  /** Event times of the last fires of those of the rules that have fired, by rule id. */
  lastFires(ruleIds: readonly string[], session?: ClientSession): Promise<Map<string, Date>>;
  delete(session: ClientSession, tenantId: TenantId, ruleId: string): Promise<void>;
}

/** Windows in the database of `connection`. Make it before the connection starts. */
export function createWindowStore(connection: Connection): WindowStore {
  // The driver itself: windows are large and written often, and there is nothing in them to cast.
  const windows = driverCollection<StoredWindow>(connection, 'Window', windowSchema);

  return {
    async *load(partition, tenantIds) {
      const found = windows.find({ partition, tenantId: { $in: [...tenantIds] } }, { batchSize: READ_AT_A_TIME });
      for await (const stored of found) yield toWindow(stored);
    },

    async sizeOf(partition, tenantId) {
      // Parts may repeat entries, which take no memory.
      const entries = { $multiply: ['$size', BYTES_PER_ENTRY.amount] };
      const bytes = { $add: [HELD_BYTES_PER_WINDOW, { $min: [{ $bsonSize: '$$ROOT' }, entries] }] };
      const sizes = windows.aggregate<{ bytes: number }>([
        { $match: { partition, tenantId } },
        { $group: { _id: null, bytes: { $sum: bytes } } },
      ]);
      return (await sizes.next())?.bytes ?? 0;
    },

    async *references(partition) {
      const options = { projection: { _id: 1, tenantId: 1 }, batchSize: READ_AT_A_TIME } as const;
      let references: RuleReference[] = [];
      for await (const { _id, tenantId } of windows.find({ partition }, options)) {
        references.push({ tenantId: provenTenantId(tenantId), ruleId: _id });
        if (references.length < READ_AT_A_TIME) continue;
        yield references;
        references = [];
      }
      if (references.length > 0) yield references;
    },

    async save(session, partition, changed) {
      if (changed.length === 0) return;
      await windows.bulkWrite(
        changed.map((window) => toWrite(window, partition)),
        { session },
      );
    },

    async progress(ruleIds) {
      const projection = { revision: 1, metUntil: 1 };
      const found = await windows.find({ _id: { $in: [...ruleIds] } }, { projection }).toArray();
      return new Map(
        found.map(({ _id, revision, metUntil }) => [_id, { revision, metUntil: metUntil?.getTime() ?? null }]),
      );
    },

    async lastFires(ruleIds, session) {
      const options = { projection: LAST_FIRES, hint: LAST_FIRES, ...(session && { session }) };
      const found = await windows.find({ _id: { $in: [...ruleIds] } }, options).toArray();
      return new Map(found.flatMap(({ _id, lastFiredAt }) => (lastFiredAt ? [[_id, lastFiredAt] as const] : [])));
    },

    async delete(session, tenantId, ruleId) {
      await windows.deleteOne({ _id: ruleId, tenantId }, { session });
    },
  };
}

/**
 * Adds a part to the window, or replaces it. If the rule is deleted at the same moment, the part is all that is there:
 * the next takeover finds it, and deletes all that belongs to the rule.
 */
function toWrite(window: SavedWindow, partition: number): mongo.AnyBulkWriteOperation<StoredWindow> {
  const { ruleId, condition } = window;
  const fields = fromWindow(window, partition);
  if (condition.kind === 'first_occurrence') return replace(ruleId, fields);
  const { sum } = condition;
  const entries = toBinary(sum.entries);
  const { form, size } = sum;
  if (isWhole(sum)) return replace(ruleId, { ...fields, form, entries, parts: [], size });
  const update = { $set: { ...fields, form, size }, ...(entries.length() > 0 && { $push: { parts: entries } }) };
  return { updateOne: { filter: { _id: ruleId }, update, upsert: true } };
}

function replace(_id: string, replacement: Omit<StoredWindow, '_id'>): mongo.AnyBulkWriteOperation<StoredWindow> {
  return { replaceOne: { filter: { _id }, replacement, upsert: true } };
}

/** Without the entries of its condition. */
function fromWindow(window: SavedWindow, partition: number): Omit<StoredWindow, '_id'> {
  const { tenantId, revision, metUntil, condition, history } = window;
  const { lastFiredAt, decisions, minutes } = history;
  return {
    tenantId,
    partition,
    revision,
    lastFiredAt: lastFiredAt === null ? null : new Date(lastFiredAt),
    metUntil: metUntil === null ? null : new Date(metUntil),
    kind: condition.kind,
    sampleIds: condition.kind === 'first_occurrence' ? [] : condition.sum.sampleIds,
    spans: condition.kind === 'first_occurrence' ? condition.spans : [],
    decisions,
    minutes,
  };
}

function toCondition(stored: StoredWindow): SavedCondition {
  const { spans, sampleIds, times, identities, occurrences, parts = [], size } = stored;
  // 0.1 stored no kind.
  const kind = stored.kind ?? ((times ?? occurrences) ? 'event_count_gte' : 'first_occurrence');
  if (kind === 'first_occurrence') return { kind, spans };
  if (times && identities) {
    return { kind, sum: { ...interleaved(fromBinary(times), fromBinary(identities)), sampleIds } };
  }
  const form = stored.form ?? FORMS[kind];
  const whole = stored.entries ?? occurrences;
  const saved = [...(whole ? [whole] : []), ...parts].map(fromBinary);
  const joined = joinParts(form, saved, size);
  const sum = { ...joined, sampleIds };
  // A part can be added to what is there, unless it lacks the beginning.
  if (stored.entries === undefined || joined.size !== size) return { kind, sum };
  const entries = saved.reduce((total, { byteLength }) => total + byteLength, 0) / BYTES_PER_ENTRY[form];
  return { kind, sum: { ...sum, stored: { entries, parts: parts.length } } };
}

function interleaved(times: Float64Array, identities: Float64Array): Omit<SavedSum, 'sampleIds'> {
  const entries = new Float64Array(2 * times.length);
  for (const [index, time] of times.entries()) entries.set([time, identities[index]!], 2 * index);
  return { form: 'unit', entries, size: times.length };
}

function toWindow(stored: StoredWindow): SavedWindow {
  const { tenantId, revision, metUntil, lastFiredAt, decisions = 0, minutes = [] } = stored;
  return {
    tenantId: provenTenantId(tenantId),
    ruleId: stored._id,
    revision,
    metUntil: metUntil?.getTime() ?? null,
    history: { lastFiredAt: lastFiredAt?.getTime() ?? null, decisions, minutes },
    condition: toCondition(stored),
  };
}

function toBinary(numbers: Float64Array): mongo.Binary {
  return new mongo.Binary(new Uint8Array(numbers.buffer, numbers.byteOffset, numbers.byteLength));
}

/** A copy, since the bytes of a document need not be aligned to 8. */
function fromBinary(binary: mongo.Binary): Float64Array {
  return new Float64Array(Uint8Array.from(binary.value()).buffer);
}
