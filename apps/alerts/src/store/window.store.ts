import type { RuleKind } from '@tollkeeper/contracts';
import { provenTenantId, type TenantId } from '@tollkeeper/kernel';
import { driverCollection } from '@tollkeeper/mongo';
import { type ClientSession, type Connection, mongo, Schema } from 'mongoose';
import type { SavedCondition } from '../domain/condition.ts';
import type { Span } from '../domain/coverage.ts';
import type { SavedWindow } from '../domain/partition.evaluator.ts';
import type { SavedHistory } from '../domain/rule.history.ts';

interface StoredWindow {
  /** Id of the rule. */
  _id: string;
  tenantId: string;
  partition: number;
  revision: number;
  lastFiredAt: Date | null;
  metUntil: Date | null;
  kind?: RuleKind;
  /** Float64 in little endian, as every platform that Node runs on has them. */
  occurrences: mongo.Binary | null;
  /** In the same form, of a `spend_gte`; absent in windows of other kinds. */
  entries?: mongo.Binary;
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
      const writes = changed.map((window) => {
        const { _id, ...fields } = fromWindow(window, partition);
        return { replaceOne: { filter: { _id }, replacement: fields, upsert: true } };
      });
      await windows.bulkWrite(writes, { session });
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

function fromWindow(window: SavedWindow, partition: number): StoredWindow {
  const { tenantId, ruleId, revision, metUntil, condition, history } = window;
  const { lastFiredAt, decisions, minutes } = history;
  return {
    _id: ruleId,
    tenantId,
    partition,
    revision,
    lastFiredAt: lastFiredAt === null ? null : new Date(lastFiredAt),
    metUntil: metUntil === null ? null : new Date(metUntil),
    ...fromCondition(condition),
    decisions,
    minutes,
  };
}

function fromCondition(
  condition: SavedCondition,
): Pick<StoredWindow, 'kind' | 'occurrences' | 'entries' | 'sampleIds' | 'spans'> {
  const { kind } = condition;
  switch (kind) {
    case 'event_count_gte': {
      const { entries, sampleIds } = condition.sum;
      return { kind, occurrences: toBinary(entries), sampleIds, spans: [] };
    }
    case 'first_occurrence':
      return { kind, occurrences: null, sampleIds: [], spans: condition.spans };
    case 'spend_gte': {
      const { entries, sampleIds } = condition.sum;
      return { kind, occurrences: null, entries: toBinary(entries), sampleIds, spans: [] };
    }
  }
}

/** Windows from before they had a kind hold what `event_count_gte` counts, or else are of a `first_occurrence`. */
function toCondition({ kind, occurrences, entries, sampleIds, spans }: StoredWindow): SavedCondition {
  switch (kind ?? (occurrences === null ? 'first_occurrence' : 'event_count_gte')) {
    case 'event_count_gte':
      return { kind: 'event_count_gte', sum: { entries: fromBinary(occurrences!), sampleIds } };
    case 'first_occurrence':
      return { kind: 'first_occurrence', spans };
    case 'spend_gte':
      return { kind: 'spend_gte', sum: { entries: fromBinary(entries!), sampleIds } };
  }
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
