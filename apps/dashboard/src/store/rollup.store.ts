import { startSlices, type TenantId } from '@tollkeeper/kernel';
import { driverCollection } from '@tollkeeper/mongo';
import { LRUCache } from 'lru-cache';
import { Schema, mongo, type ClientSession, type Connection } from 'mongoose';
import type { AddSpend, GroupKey } from '../domain/breakdown.ts';
import type { ReadPlan } from '../domain/read-plan.ts';
import { GRAINS, type Grain } from '../domain/grain.ts';
import {
  PERIOD_OF,
  periodStart,
  ROW_KINDS,
  rowKindOf,
  slotsOf,
  type Level,
  type RollupDelta,
  type RollupKey,
  type Row,
  type RowKind,
} from '../domain/rollup.ts';
import { halvesOf, isUndivided, partOf, partsOfName, type Part, type PartCounts } from '../domain/rollup.parts.ts';
import type { ReadMeter } from '../domain/reads.ts';
import { addTallyTo, holdTally, subtractSums, type Tally } from '../domain/tally.ts';
import type { RunStartStore, TallyStore } from '../domain/tallies.ts';
import type { NameStore } from './name.store.ts';
import {
  bytesOf,
  directoryKey,
  packedParts,
  partKey,
  partKeys,
  partsIn,
  workspaceKey,
  workspaceKeyOf,
  type RollupDocument,
} from './rollup.document.ts';
import { addToRows, addToWorkspace, packedRows, readWorkspace, rowsApart, type PackedRow } from './rollup.codec.ts';
import { createRowHash, leastHashOf, hashOfRow } from './row.hash.ts';

export interface RollupStore extends TallyStore, RunStartStore {
  /**
   * Adds the deltas, whose models `names` has taken, to their roll-ups. Not idempotent: call it in the transaction that
   * inserts the events.
   */
  add(session: ClientSession | undefined, deltas: RollupDelta[]): Promise<void>;
  /** The most parts of each kind that a roll-up of the workspace was seen to have. */
  partsOf(tenantId: TenantId): PartCounts;
}

/**
 * An overview compares a range with the span of equal length before it. The longest range has 92 days, so it reaches
 * 184 days back. Roll-ups are kept that long even if raw events, which are many more, have a shorter retention.
 */
const MIN_RETENTION_SECONDS = 190 * 86_400;
/** Parts that a read has of the database at once. */
const PARTS_AT_ONCE = 100;
/**
 * Bytes of packed rows from which on a part is divided. An event rewrites a part of five kinds at most, of the hour and
 * the day, and what their workspace did: 64 kB.
 */
const MAX_PART_BYTES = 12 * 1024;
/** Workspaces whose number of parts is remembered. */
const KNOWN_WORKSPACES = 10_000;
const UNKNOWN_PARTS: PartCounts = { agents: Infinity, days: Infinity, plans: Infinity };

/** Seconds after their start for which roll-ups are kept. */
export function rollupSeconds(retentionSeconds: number): number {
  return Math.max(retentionSeconds, MIN_RETENTION_SECONDS);
}

/**
 * Roll-ups by hour and day, kept for `retentionSeconds` after their start, but at least {@link MIN_RETENTION_SECONDS}.
 */
export function createRollupStore(
  connection: Connection,
  retentionSeconds: number,
  names: Pick<NameStore, 'models'>,
): RollupStore {
  const schema = new Schema<RollupDocument>(
    {
      _id: { type: String, required: true },
      tenantId: { type: String, required: true },
      start: { type: Date, required: true },
      workspace: Schema.Types.Buffer,
      agents: Schema.Types.Buffer,
      days: Schema.Types.Buffer,
      plans: Schema.Types.Buffer,
      divided: { type: [String], default: undefined },
      starts: { agents: Schema.Types.Buffer, days: Schema.Types.Buffer, plans: Schema.Types.Buffer },
    },
    { collection: 'rollups', versionKey: false },
  );
  schema.index({ start: 1 }, { expireAfterSeconds: rollupSeconds(retentionSeconds) });
  // The driver's collection: this is a hot path, and every value below is typed or made here.
  const rollups = driverCollection<RollupDocument>(connection, 'Rollup', schema);
  const hashOf = createRowHash();
  const partsSeen = new LRUCache<TenantId, PartCounts>({ max: KNOWN_WORKSPACES });

  async function find(
    session: ClientSession | undefined,
    keys: string[],
    projection: mongo.Document = {},
  ): Promise<Map<string, RollupDocument>> {
    if (keys.length === 0) return new Map();
    const found = await rollups.find({ _id: { $in: keys } }, { ...(session && { session }), projection }).toArray();
    return new Map(found.map((document) => [document._id, document]));
  }

  /**
   * Hands the rows of a kind to `each`, part by part: three months of thousands of agents are hundreds of megabytes, so
   * never all are held at once. With a `name`, reads only the parts in which its rows are. `eachWorkspace` gets the
   * documents of the workspace, whole.
   */
  async function readRows(
    session: ClientSession,
    kind: RowKind,
    pieces: ReadonlyMap<string, Piece>,
    name: string | undefined,
    meter: ReadMeter,
    each: (row: PackedRow, piece: Piece) => void,
    eachWorkspace?: (document: RollupDocument) => void,
  ): Promise<void> {
    if (pieces.size === 0) return;
    const divided: string[] = [];
    const slices = startSlices();
    const readAll = async (
      filter: mongo.Filter<RollupDocument>,
      projection: mongo.Document,
      models?: ReadonlyMap<number, string>,
    ): Promise<void> => {
      for await (const document of rollups.find(filter, { session, projection }).batchSize(PARTS_AT_ONCE)) {
        meter.take((document[kind]?.position ?? 0) + (document.workspace?.position ?? 0));
        if (document.divided?.includes(kind)) divided.push(document._id);
        if (document.workspace !== undefined) eachWorkspace?.(document);
        const piece = pieces.get(workspaceKeyOf(document._id))!;
        for (const row of packedRows(bytesOf(document[kind]), models)) {
          if (slices.usedUp()) await slices.next();
          each(row, piece);
        }
      }
    };
    const ofWorkspace = { [kind]: 1, divided: 1, ...(eachWorkspace && { workspace: 1 }) };
    await readAll({ _id: { $in: [...pieces.keys()] } }, ofWorkspace);
    if (divided.length === 0) return;
    const days = divided.map((key) => periodStart('day', pieces.get(key)!.start));
    // Only rows that are divided have hashes of models.
    const models = await names.models(session, pieces.get(divided[0]!)!.tenantId, new Set(days), meter);
    const ranges =
      name === undefined ? divided.map((key) => partKeys(key, kind)) : await rangesOf(session, kind, divided, name);
    await readAll({ $or: ranges.map((_id) => ({ _id })) }, { [kind]: 1 }, models);
  }

  /** Which keys the parts have in which the rows of `name` are, of the roll-ups with these workspace's documents. */
  async function rangesOf(
    session: ClientSession,
    kind: RowKind,
    keys: string[],
    name: string,
  ): Promise<{ $gte: string; $lte: string }[]> {
    const directories = await find(session, keys.map(directoryKey), { [`starts.${kind}`]: 1 });
    return [...directories].map(([key, directory]) => {
      const [first, last] = partsOfName(partsIn(directory, kind), leastHashOf(name));
      return { $gte: partKey(key, kind, first), $lte: partKey(key, kind, last) };
    });
  }

  /**
   * Reads the plan's parts on one snapshot, so that no transaction is seen in part, and no roll-up while it gets more
   * parts.
   */
  async function readAgents(
    tenantId: TenantId,
    plan: ReadPlan,
    agentId: string | undefined,
    meter: ReadMeter,
    each: (row: PackedRow, piece: Piece) => void,
  ): Promise<void> {
    await connection.getClient().withSession({ snapshot: true }, async (session) => {
      for (const kind of ['agents', 'days'] as const) {
        const grains = GRAINS.filter((grain) => rowKindOf(grain) === kind);
        await readRows(session, kind, piecesOf(tenantId, plan, 'rows', grains), agentId, meter, each);
      }
    });
  }

  async function readWorkspaces(
    tenantId: TenantId,
    plan: ReadPlan,
    each: (slot: { tally: Tally; runsStarted: number }, span: number) => void,
  ): Promise<void> {
    const pieces = piecesOf(tenantId, plan, 'workspace');
    const found = await find(undefined, [...pieces.keys()], { workspace: 1 });
    for (const [key, { workspace }] of found) {
      const { start, spans } = pieces.get(key)!;
      for (const [slot, held] of readWorkspace(bytesOf(workspace), start)) {
        const span = spans.get(slot);
        if (span !== undefined) each(held, span);
      }
    }
  }

  /** Settlements of no plan are those of the workspace without those of its plans. */
  async function dividePlans(tenantId: TenantId, plan: ReadPlan, add: AddSpend, meter: ReadMeter): Promise<void> {
    const ofNone = new Map<number, Tally>();
    const ofPlans = new Map<number, Tally>();
    const ofWorkspace = piecesOf(tenantId, plan, 'workspace');
    await connection.getClient().withSession({ snapshot: true }, (session) =>
      readRows(
        session,
        'plans',
        piecesOf(tenantId, plan, 'rows'),
        undefined,
        meter,
        (row, { start, spans }) => {
          for (const [span, tally] of row.sums(start, spans)) {
            add(row.name, span, tally);
            addTallyTo(ofPlans, span, tally);
          }
        },
        ({ _id, workspace }) => {
          const { start, spans } = ofWorkspace.get(_id)!;
          for (const [slot, { tally }] of readWorkspace(bytesOf(workspace), start)) {
            const span = spans.get(slot);
            if (span !== undefined) addTallyTo(ofNone, span, tally);
          }
        },
      ),
    );
    for (const [span, tally] of ofPlans) subtractSums(ofNone.get(span)!, tally);
    for (const [span, tally] of ofNone) add(null, span, tally);
  }

  async function divideAgents(
    tenantId: TenantId,
    plan: ReadPlan,
    add: AddSpend,
    meter: ReadMeter,
    groupOf: (row: PackedRow) => GroupKey,
  ): Promise<void> {
    await readAgents(tenantId, plan, undefined, meter, (row, { start, spans }) => {
      // In such a row nothing was settled.
      if (row.model === undefined) return;
      const group = groupOf(row);
      for (const [span, tally] of row.sums(start, spans)) add(group, span, tally);
    });
  }

  async function agentTallies<K>(
    tenantId: TenantId,
    plan: ReadPlan,
    agentId: string | undefined,
    meter: ReadMeter,
    keyOf: (row: PackedRow, span: number) => K | undefined,
  ): Promise<Map<K, Tally>> {
    const total = new Map<K, Tally>();
    await readAgents(tenantId, plan, agentId, meter, (row, { start, spans }) => {
      if (agentId !== undefined && row.name !== agentId) return;
      for (const [span, tally] of row.sums(start, spans)) {
        const key = keyOf(row, span);
        if (key !== undefined) holdTally(total, key, tally, meter);
      }
    });
    return total;
  }

  return {
    async add(session, deltas) {
      if (deltas.length === 0) return;
      const firstKeys = deltas.map(workspaceKey).flatMap((key) => [key, directoryKey(key)]);
      const stored = await find(session, firstKeys);
      const changes = deltas.map((delta) => {
        const directory = stored.get(directoryKey(workspaceKey(delta)));
        return { delta, kinds: ROW_KINDS.map((kind) => changeOf(kind, delta, partsIn(directory, kind), hashOf)) };
      });
      const others = changes.flatMap(({ delta, kinds }) =>
        kinds.flatMap(({ kind, parts, added }) =>
          parts.length === 1 ? [] : [...added.keys()].map((part) => partKey(workspaceKey(delta), kind, parts[part]!)),
        ),
      );
      for (const [key, document] of await find(session, others)) stored.set(key, document);
      const writes: mongo.AnyBulkWriteOperation<RollupDocument>[] = [];
      for (const { delta, kinds } of changes) {
        for (const document of await changedDocuments(delta, kinds, stored)) {
          writes.push({ replaceOne: { filter: { _id: document._id }, replacement: document, upsert: true } });
        }
        const seen = partsSeen.get(delta.tenantId);
        const counts = kinds.map(({ kind, parts }) => [kind, Math.max(parts.length, seen?.[kind] ?? 1)]);
        partsSeen.set(delta.tenantId, Object.fromEntries(counts) as PartCounts);
      }
      await rollups.bulkWrite(writes, session && { session });
    },
    partsOf: (tenantId) => partsSeen.get(tenantId) ?? UNKNOWN_PARTS,
    async tallySpans(tenantId, subject, plan, meter) {
      if (subject !== 'workspace') return agentTallies(tenantId, plan, subject.agentId, meter, (_row, span) => span);
      const bySpan = new Map<number, Tally>();
      await readWorkspaces(tenantId, plan, ({ tally }, span) => addTallyTo(bySpan, span, tally));
      return bySpan;
    },
    tallyAgents: (tenantId, plan, meter) => agentTallies(tenantId, plan, undefined, meter, (row) => row.name),
    tallyModels: (tenantId, agentId, plan, meter) => agentTallies(tenantId, plan, agentId, meter, (row) => row.model),
    divideSpend: async (tenantId, by, plan, add, meter) => {
      switch (by) {
        case 'plan':
          return dividePlans(tenantId, plan, add, meter);
        case 'agent':
          return divideAgents(tenantId, plan, add, meter, ({ name }) => name);
        case 'model':
          return divideAgents(tenantId, plan, add, meter, ({ model }) => model ?? null);
      }
    },
    async countRunStarts(tenantId, plan) {
      let runs = 0;
      await readWorkspaces(tenantId, plan, ({ runsStarted }) => void (runs += runsStarted));
      return runs;
    },
  };
}

/** The slots of a roll-up that a plan reads. */
interface Piece extends RollupKey {
  /** Index of the span that each slot belongs to. */
  spans: Map<number, number>;
}

/** By the key of the workspace's document. */
function piecesOf(
  tenantId: TenantId,
  plan: ReadPlan,
  level: Level,
  grains: readonly Grain[] = GRAINS,
): Map<string, Piece> {
  const pieces = new Map<string, Piece>();
  for (const grain of grains) {
    for (const [time, span] of plan.buckets[grain]) {
      const { start, first, count } = slotsOf(grain, level, time);
      const rollup = { tenantId, period: PERIOD_OF[grain], start };
      const key = workspaceKey(rollup);
      let piece = pieces.get(key);
      if (piece === undefined) pieces.set(key, (piece = { ...rollup, spans: new Map() }));
      for (const slot of range(first, first + count)) piece.spans.set(slot, span);
    }
  }
  return pieces;
}

/** What is added to the rows of a kind. */
interface Change {
  kind: RowKind;
  /** The parts that there are, in order. */
  parts: readonly Part[];
  /** By the index of the part. */
  added: Map<number, Row[]>;
}

function changeOf(kind: RowKind, delta: RollupDelta, parts: readonly Part[], hashOf: (row: Row) => number): Change {
  const partOfRow = (row: Row): number => (parts.length === 1 ? 0 : partOf(parts, hashOf(row)));
  return { kind, parts, added: Map.groupBy(delta[kind].values(), partOfRow) };
}

/**
 * The documents that `delta` changes, as they are afterwards. Hundreds of parts take a tenth of a second and more, so
 * others have their turns meanwhile.
 */
async function changedDocuments(
  delta: RollupDelta,
  kinds: readonly Change[],
  stored: ReadonlyMap<string, RollupDocument>,
): Promise<Iterable<RollupDocument>> {
  const { tenantId, start } = delta;
  const changed = new Map<string, RollupDocument>();
  const slices = startSlices();
  const change = (_id: string): RollupDocument => {
    let document = changed.get(_id);
    if (document === undefined) {
      document = { ...{ _id, tenantId, start: new Date(start) }, ...stored.get(_id) };
      changed.set(_id, document);
    }
    return document;
  };
  const key = workspaceKey(delta);
  const ofWorkspace = change(key);
  ofWorkspace.workspace = new mongo.Binary(addToWorkspace(bytesOf(ofWorkspace.workspace), start, delta.workspace));
  for (const { kind, parts, added } of kinds) {
    const divided = new Map<Part, Part[]>();
    for (const [index, rows] of added) {
      if (slices.usedUp()) await slices.next();
      const part = parts[index]!;
      const document = change(partKey(key, kind, part));
      const pieces = [...piecesAfter(part, (hashed) => addToRows(bytesOf(document[kind]), start, rows, hashed))];
      // Rows that are divided leave the document of the workspace.
      delete document[kind];
      for (const { part, rows } of pieces) change(partKey(key, kind, part))[kind] = new mongo.Binary(rows);
      if (pieces.length > 1) {
        divided.set(
          part,
          pieces.map((piece) => piece.part),
        );
      }
    }
    if (divided.size === 0) continue;
    if (parts.length === 1) ofWorkspace.divided = [...(ofWorkspace.divided ?? []), kind];
    const after = change(directoryKey(key));
    after.starts = { ...after.starts, [kind]: packedParts(parts.flatMap((part) => divided.get(part) ?? part)) };
  }
  return changed.values();
}

interface PartRows {
  part: Part;
  rows: Uint8Array;
}

/**
 * The rows of a part as they are after an addition. Rows that are divided get the hashes of their models, also those
 * that are added as it happens. Others get the names, so that most workspaces are read without `names`.
 */
function* piecesAfter(part: Part, added: (hashed: boolean) => Uint8Array): Generator<PartRows> {
  if (!isUndivided(part)) return yield* piecesOfPart(part, added(true));
  const rows = added(false);
  if (rows.length <= MAX_PART_BYTES) yield { part, rows };
  else yield* piecesOfPart(part, added(true), 0);
}

/** The rows of a part, divided until none has more bytes than that. */
function* piecesOfPart(part: Part, rows: Uint8Array, maxBytes = MAX_PART_BYTES): Generator<PartRows> {
  if (rows.length <= maxBytes) return yield { part, rows };
  yield* divided(
    part,
    [...rowsApart(rows)].map(({ row, bytes }) => ({ hash: hashOfRow(row), bytes })),
    maxBytes,
  );
}

function* divided(part: Part, rows: { hash: number; bytes: Uint8Array }[], maxBytes: number): Generator<PartRows> {
  const length = rows.reduce((sum, { bytes }) => sum + bytes.length, 0);
  const hashes = rows.map(({ hash }) => hash);
  const halves = length > maxBytes ? halvesOf(part, hashes) : undefined;
  if (halves === undefined)
    return yield {
      part,
      rows: Buffer.concat(
        rows.map(({ bytes }) => bytes),
        length,
      ),
    };
  const { low = [], high = [] } = Object.groupBy(rows, ({ hash }) => (hash < halves[0].end ? 'low' : 'high'));
  yield* divided(halves[0], low, MAX_PART_BYTES);
  yield* divided(halves[1], high, MAX_PART_BYTES);
}

/** From `from` up to but not including `to`. */
function range(from: number, to: number): number[] {
  return Array.from({ length: to - from }, (_, index) => from + index);
}
