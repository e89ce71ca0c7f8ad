import { startSlices, type TenantId } from '@tollkeeper/kernel';
import { driverCollection } from '@tollkeeper/mongo';
import { LRUCache } from 'lru-cache';
import { Schema, mongo, type ClientSession, type Connection } from 'mongoose';
import type { AddSpend } from '../domain/breakdown.ts';
import type { ReadPlan } from '../domain/read-plan.ts';
import { GRAINS } from '../domain/grain.ts';
import {
  PERIOD_OF,
  slotsOf,
  type AgentRow,
  type Level,
  type Period,
  type RollupDelta,
  type RollupKey,
} from '../domain/rollup.ts';
import { MAX_PARTS, partOf, PARTS_GROWTH } from '../domain/rollup.parts.ts';
import { addTallyTo, subtractSums, type Tally } from '../domain/tally.ts';
import type { RunStartStore, TallyStore } from '../domain/tallies.ts';
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

/** A part of a roll-up. Part 0 is always there; the others hold agents only. */
interface RollupDocument {
  /** {@link partKey} of the part. */
  _id: string;
  tenantId: TenantId;
  /** Start of the hour or the day. */
  start: Date;
  /** Of part 0: the number of parts, unless it is the only one. */
  parts?: number;
  /** Of part 0, packed: what the whole workspace did. */
  workspace?: mongo.Binary;
  /** Of part 0, packed: what was settled under plans. Absent when no settlement named one. */
  plans?: mongo.Binary;
  /** Packed: what the agents of this part did. */
  agents?: mongo.Binary;
}

export interface RollupStore extends TallyStore, RunStartStore {
  /** Adds the deltas to their roll-ups. Not idempotent: call it in the transaction that inserts the events. */
  add(session: ClientSession | undefined, deltas: RollupDelta[]): Promise<void>;
  /** The most parts that a roll-up of the workspace was seen to have; Infinity when none was seen. */
  partsOf(tenantId: TenantId): number;
}

/**
 * An overview compares a range with the span of equal length before it. The longest range has 92 days, so it reaches
 * 184 days back. Roll-ups are kept that long even if raw events, which are many more, have a shorter retention.
 */
const MIN_RETENTION_SECONDS = 190 * 86_400;
/** Bytes of packed agents from which on a roll-up gets more parts. */
const MAX_PART_BYTES = 16 * 1024;
/** Workspaces whose number of parts is remembered. */
const KNOWN_WORKSPACES = 10_000;

/**
 * Roll-ups by hour and day, kept for `retentionSeconds` after their start, but at least {@link MIN_RETENTION_SECONDS}.
 */
export function createRollupStore(connection: Connection, retentionSeconds: number): RollupStore {
  const schema = new Schema<RollupDocument>(
    {
      _id: { type: String, required: true },
      tenantId: { type: String, required: true },
      start: { type: Date, required: true },
      parts: Number,
      workspace: Schema.Types.Buffer,
      plans: Schema.Types.Buffer,
      agents: Schema.Types.Buffer,
    },
    { collection: 'rollups', versionKey: false },
  );
  schema.index({ start: 1 }, { expireAfterSeconds: Math.max(retentionSeconds, MIN_RETENTION_SECONDS) });
  // The driver's collection: this is a hot path, and every value below is typed or made here.
  const rollups = driverCollection<RollupDocument>(connection, 'Rollup', schema);
  const partsSeen = new LRUCache<TenantId, number>({ max: KNOWN_WORKSPACES });

  async function find(
    session: ClientSession | undefined,
    keys: string[],
    projection: mongo.Document = {},
  ): Promise<Map<string, RollupDocument>> {
    if (keys.length === 0) return new Map();
    const found = await rollups.find({ _id: { $in: keys } }, { ...(session && { session }), projection }).toArray();
    return new Map(found.map((document) => [document._id, document]));
  }

  /** All parts but the first of the roll-ups whose first parts have these keys, of which there is at least one. */
  function othersOf(session: ClientSession | undefined, first: string[]): mongo.FindCursor<RollupDocument> {
    // ':' comes behind all digits.
    const ranges = first.map((key) => ({ _id: { $gt: key, $lt: siblingKey(key, ':') } }));
    return rollups.find({ $or: ranges }, session && { session });
  }

  /**
   * Reads the plan's parts on one snapshot, so that no roll-up is seen while it gets more parts. Three months of
   * thousands of agents are hundreds of megabytes, so never all are held at once, and others get their turns.
   */
  async function readAgents(
    tenantId: TenantId,
    plan: ReadPlan,
    agentId: string | undefined,
    each: (row: PackedRow, piece: Piece) => void,
  ): Promise<void> {
    const pieces = piecesOf(tenantId, plan, 'rows');
    const divided = new Map<string, number>();
    const slices = startSlices();
    const readAll = async (parts: mongo.FindCursor<RollupDocument>): Promise<void> => {
      for await (const { _id, parts: count, agents } of parts) {
        if (count !== undefined) divided.set(_id, count);
        const piece = pieces.get(siblingKey(_id, 0))!;
        for (const row of packedRows(bytesOf(agents))) {
          if (slices.usedUp()) await slices.next();
          each(row, piece);
        }
      }
    };
    await connection.getClient().withSession({ snapshot: true }, async (session) => {
      const withKeys = (keys: string[]) =>
        rollups.find({ _id: { $in: keys } }, { session, projection: { workspace: 0, plans: 0 } });
      await readAll(withKeys([...pieces.keys()]));
      if (divided.size === 0) return;
      if (agentId === undefined) return readAll(othersOf(session, [...divided.keys()]));
      const others = [...divided].map(([key, parts]) => siblingKey(key, partOf(agentId, parts)));
      // Part 0 was read.
      await readAll(withKeys(others.filter((key) => !divided.has(key))));
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
  async function dividePlans(tenantId: TenantId, plan: ReadPlan, add: AddSpend): Promise<void> {
    const ofPlans = piecesOf(tenantId, plan, 'rows');
    const ofWorkspace = piecesOf(tenantId, plan, 'workspace');
    const keys = [...ofPlans.keys()];
    const slices = startSlices();
    const parts = rollups.find({ _id: { $in: keys } }, { projection: { workspace: 1, plans: 1 } });
    for await (const { _id, workspace, plans } of parts) {
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
    keyOf: (row: PackedRow, span: number) => K | undefined,
  ): Promise<Map<K, Tally>> {
    const total = new Map<K, Tally>();
    await readAgents(tenantId, plan, agentId, (row, { start, spans }) => {
      if (agentId !== undefined && row.agentId !== agentId) return;
      for (const [span, tally] of row.sums(start, spans)) {
        const key = keyOf(row, span);
        if (key !== undefined) addTallyTo(total, key, tally);
      }
    });
    return total;
  }

  /** The roll-up as it is after `delta` was added, by part. Only the parts that changed. */
  async function changedParts(
    session: ClientSession | undefined,
    delta: RollupDelta,
    stored: ReadonlyMap<string, RollupDocument>,
  ): Promise<RollupDocument[]> {
    const { tenantId, start } = delta;
    const first = stored.get(partKey(delta, 0));
    let parts = first?.parts ?? 1;
    let agents = new Map([[0, bytesOf(first?.agents)]]);
    for (const [part, rows] of rowsByPart(delta, parts)) {
      const held = part === 0 ? first : stored.get(partKey(delta, part));
      agents.set(part, addToAgents(bytesOf(held?.agents), start, rows));
    }
    if (isTooLarge(agents, parts)) {
      for await (const { _id, agents: packed } of othersOf(session, [partKey(delta, 0)])) {
        const part = Number(_id.slice(_id.lastIndexOf('|') + 1));
        if (!agents.has(part)) agents.set(part, bytesOf(packed));
      }
      const before = [...agents.keys()];
      while (isTooLarge(agents, parts)) {
        parts *= PARTS_GROWTH;
        const divided = [...agents.values()].flatMap((packed) => [
          ...divideAgents(packed, (agentId) => partOf(agentId, parts)),
        ]);
        agents = new Map(divided);
      }
      // A part that all agents have left is written without them.
      for (const part of before) if (!agents.has(part)) agents.set(part, undefined);
    }
    partsSeen.set(tenantId, Math.max(parts, partsSeen.get(tenantId) ?? 1));
    const workspace = new mongo.Binary(addToWorkspace(bytesOf(first?.workspace), start, delta.workspace));
    const plans = addToPlans(bytesOf(first?.plans), start, delta.plans);
    const ofAll = { workspace, ...(plans.length > 0 && { plans: new mongo.Binary(plans) }) };
    return [...agents].map(([part, packed]) => ({
      _id: partKey(delta, part),
      tenantId,
      start: new Date(start),
      ...(part === 0 && { ...ofAll, ...(parts > 1 && { parts }) }),
      ...(packed !== undefined && { agents: new mongo.Binary(packed) }),
    }));
  }

  return {
    async add(session, deltas) {
      if (deltas.length === 0) return;
      const stored = await find(
        session,
        deltas.map((delta) => partKey(delta, 0)),
      );
      const others = deltas.flatMap((delta) => {
        const parts = stored.get(partKey(delta, 0))?.parts ?? 1;
        return [...rowsByPart(delta, parts).keys()].filter((part) => part > 0).map((part) => partKey(delta, part));
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
    partsOf: (tenantId) => partsSeen.get(tenantId) ?? Infinity,
    async tallySpans(tenantId, subject, plan) {
      if (subject !== 'workspace') return agentTallies(tenantId, plan, subject.agentId, (_row, span) => span);
      const bySpan = new Map<number, Tally>();
      await readWorkspaces(tenantId, plan, ({ tally }, span) => addTallyTo(bySpan, span, tally));
      return bySpan;
    },
    tallyAgents: (tenantId, plan) => agentTallies(tenantId, plan, undefined, (row) => row.agentId),
    tallyModels: (tenantId, agentId, plan) => agentTallies(tenantId, plan, agentId, (row) => row.model),
    divideSpend: async (tenantId, by, plan, add) => {
      if (by === 'plan') return dividePlans(tenantId, plan, add);
      await readAgents(tenantId, plan, undefined, (row, { start, spans }) => {
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
function piecesOf(tenantId: TenantId, plan: ReadPlan, level: Level): Map<string, Piece> {
  const pieces = new Map<string, Piece>();
  for (const grain of GRAINS) {
    for (const [time, span] of plan.buckets[grain]) {
      const { start, first, count } = slotsOf(grain, level, time);
      const rollup = { tenantId, period: PERIOD_OF[grain], start };
      const key = partKey(rollup, 0);
      let piece = pieces.get(key);
      if (piece === undefined) pieces.set(key, (piece = { ...rollup, spans: new Map() }));
      for (const slot of range(first, first + count)) piece.spans.set(slot, span);
    }
  }
  return pieces;
}

function rowsByPart(delta: RollupDelta, parts: number): Map<number, AgentRow[]> {
  return Map.groupBy(delta.agents.values(), ({ agentId }) => partOf(agentId, parts));
}

/** Such as `ws_1|day|2026-11-22|0` and `ws_1|hour|2026-11-22T14|0`. */
function partKey({ tenantId, period, start }: { tenantId: TenantId; period: Period; start: number }, part: number) {
  const time = new Date(start).toISOString().slice(0, period === 'day' ? 10 : 13);
  return `${tenantId}|${period}|${time}|${part}`;
}

/** The key of another part of the same roll-up. */
function siblingKey(key: string, part: number | ':'): string {
  return `${key.slice(0, key.lastIndexOf('|') + 1)}${part}`;
}

/** Whether more parts would make those smaller that are too large. The rows of an agent stay together. */
function isTooLarge(agents: ReadonlyMap<number, Uint8Array | undefined>, parts: number): boolean {
  if (parts >= MAX_PARTS) return false;
  return [...agents.values()].some((packed) => (packed?.length ?? 0) > MAX_PART_BYTES && hasSeveralAgents(packed));
}

function hasSeveralAgents(packed: Uint8Array | undefined): boolean {
  let first: string | undefined;
  for (const { agentId } of packedRows(packed)) {
    first ??= agentId;
    if (agentId !== first) return true;
  }
  return false;
}

function bytesOf(binary: mongo.Binary | undefined): Uint8Array | undefined {
  return binary?.buffer.subarray(0, binary.position);
}

/** From `from` up to but not including `to`. */
function range(from: number, to: number): number[] {
  return Array.from({ length: to - from }, (_, index) => from + index);
}
