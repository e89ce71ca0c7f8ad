import type { RuleKind } from '@tollkeeper/contracts';
import { provenTenantId, type TenantId } from '@tollkeeper/kernel';
import { driverCollection } from '@tollkeeper/mongo';
import { type ClientSession, type Connection, mongo, Schema } from 'mongoose';
import type { SavedCondition } from '../domain/condition.ts';
import type { Span } from '../domain/coverage.ts';
import type { SavedWindow } from '../domain/partition.evaluator.ts';
import type { SavedHistory } from '../domain/rule.history.ts';
import { isWhole, joinParts, MIN_SAVED_IN_PARTS } from '../domain/sliding-sum.ts';
import { FORMS } from '../domain/sum.condition.ts';

interface StoredWindow {
  /** Id of the rule. */
  _id: string;
  tenantId: string;
  partition: number;
  revision: number;
  lastFiredAt: Date | null;
  metUntil: Date | null;
  kind?: RuleKind;
  /**
   * All that an `event_count_gte` counts: Float64 in little endian, as every platform that Node runs on has them. Null
   * in windows of other kinds. Absent with `base`, so that 0.1 fails rather than to count too little.
   */
  occurrences?: mongo.Binary | null;
  /** The same of a `spend_gte`. */
  entries?: mongo.Binary;
  /** The same of a window that is saved in parts. */
  base?: mongo.Binary;
  /** What was saved since `base`, each save's in a part. With `base` they have the newest `size` entries. */
  parts?: mongo.Binary[];
  size?: number;
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
windowSchema.index({ partition: 1 });
/** Answers {@link WindowStore.lastFires} alone: a window may have 16 bytes for each event of its rule's threshold. */
const LAST_FIRES = { _id: 1, lastFiredAt: 1 } as const;
windowSchema.index(LAST_FIRES);

/** How far a condition was known to be met when a window was saved. */
export interface WindowProgress {
  revision: number;
  /** Epoch milliseconds; null when it is not met. */
  metUntil: number | null;
}

/** The windows of rules, saved with the position up to which the log has filled them. */
export interface WindowStore {
  load(session: ClientSession, partition: number): Promise<SavedWindow[]>;
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
    async load(session, partition) {
      return (await windows.find({ partition }, { session }).toArray()).map(toWindow);
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
 * Of a window that is there: its new entries. It may be gone by now, as its rule was deleted: then what is written is
 * found and deleted with all that belongs to the rule.
 */
function toWrite(window: SavedWindow, partition: number): mongo.AnyBulkWriteOperation<StoredWindow> {
  const { ruleId, condition } = window;
  const fields = fromWindow(window, partition);
  if (condition.kind === 'first_occurrence') return replace(ruleId, { ...fields, occurrences: null });
  const { kind, sum } = condition;
  const entries = toBinary(sum.entries);
  if (!isWhole(sum, FORMS[kind])) {
    const $set = { ...fields, size: sum.size };
    return { updateOne: { filter: { _id: ruleId }, update: { $set, $push: { parts: entries } }, upsert: true } };
  }
  if (sum.size >= MIN_SAVED_IN_PARTS) return replace(ruleId, { ...fields, base: entries, parts: [], size: sum.size });
  const whole = kind === 'spend_gte' ? { occurrences: null, entries } : { occurrences: entries };
  return replace(ruleId, { ...fields, ...whole });
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

/** Windows from before they had a kind hold what `event_count_gte` counts, or else are of a `first_occurrence`. */
function toCondition(stored: StoredWindow): SavedCondition {
  const kind = stored.kind ?? (stored.occurrences === null ? 'first_occurrence' : 'event_count_gte');
  if (kind === 'first_occurrence') return { kind, spans: stored.spans };
  const { base, entries, occurrences, parts = [], size, sampleIds } = stored;
  const whole = base ?? entries ?? occurrences;
  const saved = [...(whole ? [whole] : []), ...parts].map(fromBinary);
  return { kind, sum: { ...joinParts(FORMS[kind], saved, size), sampleIds } };
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
