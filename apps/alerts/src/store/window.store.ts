import { provenTenantId, type TenantId } from '@tollkeeper/kernel';
import { driverCollection } from '@tollkeeper/mongo';
import { type ClientSession, type Connection, type mongo, Schema } from 'mongoose';
import type { SavedWindow } from '../domain/partition.evaluator.ts';
import { BYTES_PER_ENTRY, FIELDS, isWhole } from '../domain/saved-sum.ts';
import { HELD_BYTES_PER_WINDOW } from '../domain/workspace.windows.ts';
import type { RuleReference } from './rule.store.ts';
import { stepPieceId, toBinary, toStepPiece } from './step.pieces.ts';
import {
  fromCondition,
  PIECE_ENTRIES,
  pieceId,
  pieceIds,
  type ReadPieces,
  stepsOf,
  type StoredPiece,
  type StoredWindow,
  sumOf,
  toCondition,
} from './stored.condition.ts';

const windowSchema = new Schema<StoredWindow>(
  {
    _id: { type: String, required: true },
    tenantId: { type: String, required: true },
    partition: { type: Number, required: true },
  },
  { collection: 'windows', versionKey: false },
);
/** Covers {@link WindowStore.references}. */
windowSchema.index({ partition: 1, tenantId: 1, _id: 1 });
/** Covers {@link WindowStore.lastFires}: a window may have 32 kB of entries. */
const LAST_FIRES = { _id: 1, lastFiredAt: 1 } as const;
windowSchema.index(LAST_FIRES);

const pieceSchema = new Schema<StoredPiece>(
  { _id: { type: String, required: true }, tenantId: { type: String, required: true } },
  { collection: 'window_pieces', versionKey: false },
);
pieceSchema.index({ expiresAt: 1 }, { expireAfterSeconds: 0 });
/**
 * How long a shared piece is kept after its last change: longer than the longest window (30 days) and the retention of
 * the log (7 days) together, so that no event can be evaluated any more whose window has an entry of the piece.
 */
const KEEP_SHARED_DAYS = 60;
const DAY_MS = 86_400_000;
/** How long the condition of a saved window is known to be met. */
export interface WindowProgress {
  revision: number;
  /** Epoch milliseconds; null if it is not met. */
  metUntil: number | null;
}

/** Number of documents read at once. An answer of MongoDB has at most 16 MB. */
const READ_AT_A_TIME = 1000;
/** Approximate number of pieces read at once: 4 MB. */
const PIECES_AT_A_TIME = 256;

/** The windows of rules, stored with the log position that they include. */
export interface WindowStore {
  /** Yields the windows of these workspaces one by one. */
  load(partition: number, tenantIds: readonly TenantId[]): AsyncIterable<SavedWindow>;
  /** Approximate memory of the workspace's windows once they are loaded, in bytes. */
  sizeOf(partition: number, tenantId: TenantId): Promise<number>;
  /** The rules with windows in the partition, a batch at a time. */
  references(partition: number): AsyncIterable<RuleReference[]>;
  /** Stores new windows and the changes of stored ones. */
  save(session: ClientSession, partition: number, windows: readonly SavedWindow[]): Promise<void>;
  /** By rule id. */
  progress(ruleIds: readonly string[]): Promise<Map<string, WindowProgress>>;
  /** Event times of the last fires, by rule id; without rules that never fired. */
  lastFires(ruleIds: readonly string[], session?: ClientSession): Promise<Map<string, Date>>;
  delete(session: ClientSession, tenantId: TenantId, ruleId: string): Promise<void>;
}

/** As an aggregation expression. */
const bytesOfForm = {
  $switch: {
    branches: Object.entries(BYTES_PER_ENTRY).map(([form, bytes]) => ({ case: { $eq: ['$form', form] }, then: bytes })),
    default: null,
  },
};

/** Stored entries may repeat, but repetitions take no memory. A window without a size has none. */
const ENTRIES_BYTES = { $ifNull: [{ $multiply: ['$size', bytesOfForm] }, { $bsonSize: '$$ROOT' }] };
const STEPS_BYTES = { $ifNull: ['$steps.bytes', 0] };
/** Windows that share entries take their memory once. */
const SUM_OF_SIZES = [
  {
    $group: {
      _id: { $ifNull: ['$sharedAs', '$_id'] },
      windows: { $sum: { $add: [HELD_BYTES_PER_WINDOW, STEPS_BYTES] } },
      entries: { $max: ENTRIES_BYTES },
    },
  },
  { $group: { _id: null, bytes: { $sum: { $add: ['$windows', '$entries'] } } } },
];

/** Windows in the database of `connection`. Make it before the connection starts. */
export function createWindowStore(connection: Connection): WindowStore {
  // Uses the driver directly: windows are large, written often, and need no casts.
  const windows = driverCollection<StoredWindow>(connection, 'Window', windowSchema);
  const pieces = driverCollection<StoredPiece>(connection, 'WindowPiece', pieceSchema);

  /** Windows whose entries are stored apart. */
  async function* withPieces(some: readonly StoredWindow[]): AsyncIterable<SavedWindow> {
    const found = await pieces.find({ _id: { $in: [...new Set(some.flatMap(pieceIds))] } }).toArray();
    const read: ReadPieces = { byId: new Map(found.map((piece) => [piece._id, piece])), sums: new Map() };
    for (const stored of some) yield toWindow(stored, read);
  }

  return {
    async *load(partition, tenantIds) {
      const found = windows.find({ partition, tenantId: { $in: [...tenantIds] } }, { batchSize: READ_AT_A_TIME });
      let some: StoredWindow[] = [];
      let count = 0;
      for await (const stored of found) {
        some.push(stored);
        count += pieceIds(stored).length;
        if (count < PIECES_AT_A_TIME && some.length < READ_AT_A_TIME) continue;
        yield* withPieces(some);
        [some, count] = [[], 0];
      }
      yield* withPieces(some);
    },

    async sizeOf(partition, tenantId) {
      const sizes = windows.aggregate<{ bytes: number }>([{ $match: { partition, tenantId } }, ...SUM_OF_SIZES]);
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
      const apart = changed.flatMap(toPieceWrites);
      if (apart.length > 0) await pieces.bulkWrite(apart, { session });
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
      // Deletes leftover pieces too.
      await pieces.deleteMany({ _id: { $gte: `${ruleId}/`, $lt: `${ruleId}0` }, tenantId }, { session });
    },
  };
}

/**
 * Adds a part to the window, or replaces it. If the rule is deleted at the same time, what this writes is left. The
 * next takeover finds it and deletes all data of the rule.
 */
function toWrite(window: SavedWindow, partition: number): mongo.AnyBulkWriteOperation<StoredWindow> {
  const { ruleId, condition } = window;
  const fields = fromWindow(window, partition);
  const saved = sumOf(condition);
  if (saved === null) return replace(ruleId, fields);
  const { form, size, stagger, shareAt, apart, stored, sharedAs } = saved;
  const sum = { ...fields, form, size, stagger, shareAt, ...(sharedAs !== null && { sharedAs }) };
  if (apart) return replace(ruleId, { ...sum, stored: stored + saved.entries.length / FIELDS[form] });
  const entries = toBinary(saved.entries);
  if (isWhole(saved)) return replace(ruleId, { ...sum, entries, parts: [] });
  const added = entries.length() > 0 && { $push: { parts: entries } };
  return update(ruleId, { $set: sum, ...added });
}

/** The writes to the pieces of a window. A piece that begins with this save replaces any leftover piece. */
function toPieceWrites(window: SavedWindow): mongo.AnyBulkWriteOperation<StoredPiece>[] {
  const { tenantId, ruleId, condition } = window;
  const about = { tenantId, expiresAt: expiryOfShared() };
  const ofSteps = (stepsOf(condition)?.chunks ?? []).map((chunk) =>
    replace(stepPieceId(ruleId, chunk.chunk), { ...about, ...toStepPiece(chunk) }),
  );
  return [...toEntryWrites(window), ...ofSteps];
}

function toEntryWrites({ tenantId, ruleId, condition }: SavedWindow): mongo.AnyBulkWriteOperation<StoredPiece>[] {
  const sum = sumOf(condition);
  if (sum === null || !sum.apart) return [];
  const { form, entries, stored, sharedAs } = sum;
  const [fields, most] = [FIELDS[form], PIECE_ENTRIES[form]];
  const about = { tenantId, ...(sharedAs !== null && { expiresAt: expiryOfShared() }) };
  const writes: mongo.AnyBulkWriteOperation<StoredPiece>[] = [];
  for (let from = stored, until = stored + entries.length / fields; from < until;) {
    const piece = Math.floor(from / most);
    const next = Math.min(until, most * (piece + 1));
    const part = toBinary(entries.subarray(fields * (from - stored), fields * (next - stored)));
    const _id = pieceId(sharedAs ?? ruleId, piece);
    writes.push(
      from === most * piece
        ? replace(_id, { ...about, parts: [part] })
        : update(_id, { $set: about, $push: { parts: part } }),
    );
    from = next;
  }
  return writes;
}

/** Changes once a day, so that most saves leave the index as it is. */
function expiryOfShared(): Date {
  return new Date((Math.ceil(Date.now() / DAY_MS) + KEEP_SHARED_DAYS) * DAY_MS);
}

function replace<T>(_id: string, replacement: T) {
  return { replaceOne: { filter: { _id }, replacement, upsert: true } };
}

function update<T>(_id: string, changes: T) {
  return { updateOne: { filter: { _id }, update: changes, upsert: true } };
}

/** The window without the entries of its condition. */
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
    ...fromCondition(condition),
    decisions,
    minutes,
  };
}

function toWindow(stored: StoredWindow, read: ReadPieces): SavedWindow {
  const { tenantId, revision, metUntil, lastFiredAt, decisions, minutes } = stored;
  return {
    tenantId: provenTenantId(tenantId),
    ruleId: stored._id,
    revision,
    metUntil: metUntil?.getTime() ?? null,
    history: { lastFiredAt: lastFiredAt?.getTime() ?? null, decisions, minutes },
    condition: toCondition(stored, read),
  };
}
