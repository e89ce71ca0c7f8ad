import { startSlices, type TenantId } from '@tollkeeper/kernel';
import { driverCollection } from '@tollkeeper/mongo';
import { LRUCache } from 'lru-cache';
import { Schema, mongo, type ClientSession, type Connection } from 'mongoose';
import type { AddSpend } from '../domain/breakdown.ts';
import type { ReadPlan } from '../domain/read-plan.ts';
import { GRAINS, type Grain } from '../domain/grain.ts';
import {
  PERIOD_OF,
  ROW_KINDS,
  rowKindOf,
  slotsOf,
  type AgentRow,
  type Level,
  type RollupDelta,
  type RollupKey,
  type RowKind,
} from '../domain/rollup.ts';
import { MAX_PARTS, partOf, PARTS_GROWTH, type Parts } from '../domain/rollup.parts.ts';
import type { ReadMeter } from '../domain/reads.ts';
import { addTallyTo, holdTally, subtractSums, type Tally } from '../domain/tally.ts';
import type { RunStartStore, TallyStore } from '../domain/tallies.ts';
import { bytesOf, firstKey, keyPrefix, partKey, partsIn, type RollupDocument } from './rollup.document.ts';
import {
  addToAgents,
  addToPlans,
  addToWorkspace,
  divideAgents,
  packedPlans,
  packedRows,
  readWorkspace,
  type PackedRow,
} from './rollup.codec.ts';

export interface RollupStore extends TallyStore, RunStartStore {
  /** Adds the deltas to their roll-ups. Not idempotent: call it in the transaction that inserts the events. */
  add(session: ClientSession | undefined, deltas: RollupDelta[]): Promise<void>;
  /** The most parts that a roll-up of the workspace was seen to have. */
  partsOf(tenantId: TenantId): Parts;
}

/**
 * An overview compares a range with the span of equal length before it. The longest range has 92 days, so it reaches
 * 184 days back. Roll-ups are kept that long even if raw events, which are many more, have a shorter retention.
 */
const MIN_RETENTION_SECONDS = 190 * 86_400;
/** Bytes of packed rows from which on they get more parts. */
const MAX_PART_BYTES = 16 * 1024;
/** Parts that a read has of the database at once. */
const PARTS_AT_ONCE = 100;
/** Workspaces whose number of parts is remembered. */
const KNOWN_WORKSPACES = 10_000;
const UNKNOWN_PARTS: Parts = { agents: Infinity, days: Infinity };

/**
 * Roll-ups by hour and day, kept for `retentionSeconds` after their start, but at least {@link MIN_RETENTION_SECONDS}.
 */
export function createRollupStore(connection: Connection, retentionSeconds: number): RollupStore {
  const schema = new Schema<RollupDocument>(
    {
      _id: { type: String, required: true },
      tenantId: { type: String, required: true },
      start: { type: Date, required: true },
      parts: { agents: Number, days: Number },
      workspace: Schema.Types.Buffer,
      plans: Schema.Types.Buffer,
      agents: Schema.Types.Buffer,
      days: Schema.Types.Buffer,
    },
    { collection: 'rollups', versionKey: false },
  );
  schema.index({ start: 1 }, { expireAfterSeconds: Math.max(retentionSeconds, MIN_RETENTION_SECONDS) });
  // The driver's collection: this is a hot path, and every value below is typed or made here.
  const rollups = driverCollection<RollupDocument>(connection, 'Rollup', schema);
  const partsSeen = new LRUCache<TenantId, Parts>({ max: KNOWN_WORKSPACES });

  async function find(
    session: ClientSession | undefined,
    keys: string[],
    projection: mongo.Document = {},
  ): Promise<Map<string, RollupDocument>> {
    if (keys.length === 0) return new Map();
    const found = await rollups.find({ _id: { $in: keys } }, { ...(session && { session }), projection }).toArray();
    return new Map(found.map((document) => [document._id, document]));
  }

  /** All parts of a kind but the first, of the roll-ups whose first parts have these keys. At least one key. */
  function othersOf(
    session: ClientSession | undefined,
    kind: RowKind,
    first: string[],
    projection: mongo.Document = {},
  ): mongo.FindCursor<RollupDocument> {
    const prefixes = first.map((key) => keyPrefix(key, kind));
    // ':' comes behind all digits.
    const ranges = prefixes.map((prefix) => ({ _id: { $gt: `${prefix}0`, $lt: `${prefix}:` } }));
    return rollups.find({ $or: ranges }, { ...(session && { session }), projection });
  }

  /**
   * Hands the rows of a kind to `each`, part by part: three months of thousands of agents are hundreds of megabytes, so
   * never all are held at once.
   */
  async function readRows(
    session: ClientSession,
    kind: RowKind,
    pieces: ReadonlyMap<string, Piece>,
    agentId: string | undefined,
    meter: ReadMeter,
    each: (row: PackedRow, piece: Piece) => void,
  ): Promise<void> {
    if (pieces.size === 0) return;
    const divided = new Map<string, number>();
    const slices = startSlices();
    const projection = { parts: 1, [kind]: 1 };
    const readAll = async (parts: mongo.FindCursor<RollupDocument>): Promise<void> => {
      for await (const document of parts.batchSize(PARTS_AT_ONCE)) {
        meter.take(document[kind]?.position ?? 0);
        const key = partKey(document._id, kind, 0);
        const count = partsIn(document, kind);
        if (count > 1) divided.set(key, count);
        const piece = pieces.get(key)!;
        for (const row of packedRows(bytesOf(document[kind]))) {
          if (slices.usedUp()) await slices.next();
          each(row, piece);
        }
      }
    };
    const withKeys = (keys: string[]) => rollups.find({ _id: { $in: keys } }, { session, projection });
    await readAll(withKeys([...pieces.keys()]));
    if (divided.size === 0) return;
    if (agentId === undefined) return readAll(othersOf(session, kind, [...divided.keys()], projection));
    const parts = [...divided].map(([key, count]) => ({ key, part: partOf(agentId, count) }));
    // Part 0 was read.
    await readAll(withKeys(parts.filter(({ part }) => part > 0).map(({ key, part }) => partKey(key, kind, part))));
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
      for (const kind of ROW_KINDS) {
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

  /**
   * Settlements of no plan are those of the workspace without those of its plans. So roll-ups that hold no plans, or
   * not all, are read like others.
   */
  async function dividePlans(tenantId: TenantId, plan: ReadPlan, add: AddSpend, meter: ReadMeter): Promise<void> {
    const ofPlans = piecesOf(tenantId, plan, 'rows');
    const ofWorkspace = piecesOf(tenantId, plan, 'workspace');
    const keys = [...ofPlans.keys()];
    const slices = startSlices();
    const parts = rollups.find({ _id: { $in: keys } }, { projection: { workspace: 1, plans: 1 } });
    for await (const { _id, workspace, plans } of parts.batchSize(PARTS_AT_ONCE)) {
      meter.take((workspace?.position ?? 0) + (plans?.position ?? 0));
      const { start, spans } = ofWorkspace.get(_id)!;
      const ofNone = new Map<number, Tally>();
      for (const [slot, { tally }] of readWorkspace(bytesOf(workspace), start)) {
        const span = spans.get(slot);
        if (span !== undefined) addTallyTo(ofNone, span, tally);
      }
      const piece = ofPlans.get(_id)!;
      for (const row of packedPlans(bytesOf(plans))) {
        if (slices.usedUp()) await slices.next();
        for (const [span, tally] of row.sums(piece.start, piece.spans)) {
          add(row.plan, span, tally);
          subtractSums(ofNone.get(span)!, tally);
        }
      }
      for (const [span, tally] of ofNone) add(null, span, tally);
    }
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
      if (agentId !== undefined && row.agentId !== agentId) return;
      for (const [span, tally] of row.sums(start, spans)) {
        const key = keyOf(row, span);
        if (key !== undefined) holdTally(total, key, tally, meter);
      }
    });
    return total;
  }

  /** The parts that `delta` changes, as they are afterwards. */
  async function changedParts(
    session: ClientSession | undefined,
    delta: RollupDelta,
    stored: ReadonlyMap<string, RollupDocument>,
  ): Promise<RollupDocument[]> {
    const { tenantId, start } = delta;
    const changed = new Map<string, RollupDocument>();
    const change = (_id: string): RollupDocument => {
      let document = changed.get(_id);
      if (document === undefined) {
        document = { ...{ _id, tenantId, start: new Date(start) }, ...stored.get(_id) };
        changed.set(_id, document);
      }
      return document;
    };
    const first = change(firstKey(delta));
    first.workspace = new mongo.Binary(addToWorkspace(bytesOf(first.workspace), start, delta.workspace));
    const plans = addToPlans(bytesOf(first.plans), start, delta.plans);
    if (plans.length > 0) first.plans = new mongo.Binary(plans);

    for (const kind of ROW_KINDS) {
      const changePart = (part: number): RollupDocument => change(partKey(first._id, kind, part));
      const packed = (): (Uint8Array | undefined)[] => [...changed.values()].map((document) => bytesOf(document[kind]));
      let parts = partsIn(first, kind);
      for (const [part, added] of rowsByPart(delta[kind], parts)) {
        const document = changePart(part);
        document[kind] = new mongo.Binary(addToAgents(bytesOf(document[kind]), start, added));
      }
      if (!isTooLarge(packed(), parts)) continue;
      for await (const other of othersOf(session, kind, [first._id])) {
        if (!changed.has(other._id)) changed.set(other._id, other);
      }
      while (isTooLarge(packed(), parts)) {
        parts *= PARTS_GROWTH;
        const divided = packed().flatMap((rows) => [...divideAgents(rows, (agentId) => partOf(agentId, parts))]);
        // A part that all agents have left is written without them.
        for (const document of changed.values()) delete document[kind];
        for (const [part, rows] of divided) changePart(part)[kind] = new mongo.Binary(rows);
      }
      first.parts = { ...first.parts, [kind]: parts };
    }
    const seen = partsSeen.get(tenantId);
    partsSeen.set(tenantId, {
      agents: Math.max(partsIn(first, 'agents'), seen?.agents ?? 1),
      days: Math.max(partsIn(first, 'days'), seen?.days ?? 1),
    });
    return [...changed.values()];
  }

  return {
    async add(session, deltas) {
      if (deltas.length === 0) return;
      const stored = await find(
        session,
        deltas.map((delta) => firstKey(delta)),
      );
      const others = deltas.flatMap((delta) => {
        const key = firstKey(delta);
        return ROW_KINDS.flatMap((kind) =>
          [...rowsByPart(delta[kind], partsIn(stored.get(key), kind)).keys()]
            .filter((part) => part > 0)
            .map((part) => partKey(key, kind, part)),
        );
      });
      for (const [key, document] of await find(session, others)) stored.set(key, document);
      const writes: mongo.AnyBulkWriteOperation<RollupDocument>[] = [];
      for (const delta of deltas) {
        for (const document of await changedParts(session, delta, stored)) {
          writes.push({ replaceOne: { filter: { _id: document._id }, replacement: document, upsert: true } });
        }
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
    tallyAgents: (tenantId, plan, meter) => agentTallies(tenantId, plan, undefined, meter, (row) => row.agentId),
    tallyModels: (tenantId, agentId, plan, meter) => agentTallies(tenantId, plan, agentId, meter, (row) => row.model),
    divideSpend: async (tenantId, by, plan, add, meter) => {
      if (by === 'plan') return dividePlans(tenantId, plan, add, meter);
      await readAgents(tenantId, plan, undefined, meter, (row, { start, spans }) => {
        const { agentId, model } = row;
        // In such a row nothing was settled.
        if (model === undefined) return;
        for (const [span, tally] of row.sums(start, spans)) add(by === 'agent' ? agentId : model, span, tally);
      });
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

/** By the key of part 0. */
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
      const key = firstKey(rollup);
      let piece = pieces.get(key);
      if (piece === undefined) pieces.set(key, (piece = { ...rollup, spans: new Map() }));
      for (const slot of range(first, first + count)) piece.spans.set(slot, span);
    }
  }
  return pieces;
}

function rowsByPart(rows: ReadonlyMap<string, AgentRow>, parts: number): Map<number, AgentRow[]> {
  return Map.groupBy(rows.values(), ({ agentId }) => partOf(agentId, parts));
}

/** Whether more parts would make those smaller that are too large. The rows of an agent stay together. */
function isTooLarge(all: readonly (Uint8Array | undefined)[], parts: number): boolean {
  if (parts >= MAX_PARTS) return false;
  return all.some((packed) => (packed?.length ?? 0) > MAX_PART_BYTES && hasSeveralAgents(packed));
}

function hasSeveralAgents(packed: Uint8Array | undefined): boolean {
  let first: string | undefined;
  for (const { agentId } of packedRows(packed)) {
    first ??= agentId;
    if (agentId !== first) return true;
  }
  return false;
}

/** From `from` up to but not including `to`. */
function range(from: number, to: number): number[] {
  return Array.from({ length: to - from }, (_, index) => from + index);
}
