import type { TenantId } from '@tollkeeper/kernel';
import { withTransaction } from '@tollkeeper/mongo';
import type { ClientSession, Connection, mongo } from 'mongoose';
import { withoutDuplicates } from '../domain/event.ts';
import type { EventRecorder } from '../domain/record-events.ts';
import { AGENT_GRAINS, GRAINS, type Grain } from '../domain/grain.ts';
import {
  addToSlot,
  createRollupDeltas,
  PERIOD_OF,
  rowSlots,
  rowKindOf,
  slotsOf,
  workspaceSlot,
  type RollupDelta,
} from '../domain/rollup.ts';
import { runKey, type RunStart } from '../domain/run.ts';
import { addTally, addTallyTo, type Tally } from '../domain/tally.ts';
import type { BucketDocument } from './earlier.buckets.ts';
import { DAY_MS, dayOf } from './chunk.packing.ts';
import { toEvent, type EventDocument } from './earlier.events.ts';
import type { RunDocument } from './earlier.runs.ts';
import { sumsOf, toTally } from './earlier.tally-row.ts';

/** Moves what releases up to 0.1 stored to the form of this release. */
export interface EarlierMigration {
  /** About how many documents are left. */
  left(): Promise<number>;
  /**
   * Moves what is left, and yields the number of documents that each transaction has moved. Every one of them leaves
   * all sums as they are, so it may be ended at any point and begun again, and the service may count events meanwhile.
   * A sum may for a moment miss or double what is just being moved, since queries are not on one snapshot.
   */
  move(): AsyncGenerator<number>;
  /** Drops the collections of 0.1. Rejects when something is left in them. */
  drop(): Promise<void>;
}

/** Documents that one transaction moves at most. Of the roll-ups of a workspace as such, it moves those of a day. */
const PIECE = 1_000;

/** A bucket of an agent, of whose settlements some were moved. */
type AgentBucket = BucketDocument & { settled_at?: Date };

/** Writes by the recorder of this release, which knows nothing of 0.1, and whose collections and indexes are there. */
export function createEarlierMigration(
  connection: Connection,
  recorder: Pick<EventRecorder<ClientSession>, 'knownIdentities' | 'insert' | 'addToRollups'>,
): EarlierMigration {
  const events = connection.collection<EventDocument>('events');
  const runs = connection.collection<RunDocument>('runs');
  const buckets = connection.collection<AgentBucket>('buckets');

  /** Repeats a move until it finds nothing. */
  async function* repeat<T>(
    move: (session: ClientSession) => Promise<T[]>,
    committed: (moved: T[]) => void = () => undefined,
  ): AsyncGenerator<number> {
    for (;;) {
      const moved = await withTransaction(connection, move);
      if (moved.length === 0) return;
      committed(moved);
      yield moved.length;
    }
  }

  function moveEvents(tenantId: TenantId): AsyncGenerator<number> {
    // The index holds what was moved for minutes, and each read from its begin would pass over all of that.
    let from = new Date(-8.64e15);
    const goOn = (moved: EventDocument[]): void => void (from = moved.at(-1)!.time);
    return repeat(async (session) => {
      const filter = { tenant_id: tenantId, time: { $gte: from } };
      const options = { session, hint: { tenant_id: 1, time: 1 }, sort: { time: 1 }, limit: PIECE } as const;
      const found = await events.find(filter, options).toArray();
      // If 0.1 came back after this release, both may have counted an event.
      const all = found.map(toEvent);
      await recorder.insert(session, withoutDuplicates(all, await recorder.knownIdentities(session, all)), []);
      await events.deleteMany({ _id: { $in: found.map(({ _id }) => _id) } }, { session });
      return found;
    }, goOn);
  }

  function moveRuns(tenantId: TenantId): AsyncGenerator<number> {
    return repeat(async (session) => {
      const options = { session, sort: { first_at: 1 }, limit: PIECE } as const;
      const found = await runs.find({ tenant_id: tenantId }, options).toArray();
      const starts = found.map(({ _id, first_at }): RunStart => {
        const runId = _id.slice(runKey(tenantId, '').length);
        return { tenantId, runId, from: undefined, to: first_at.getTime() };
      });
      await recorder.insert(session, [], starts);
      await runs.deleteMany({ _id: { $in: found.map(({ _id }) => _id) } }, { session });
      return found;
    });
  }

  /** The oldest buckets of one of the grains, all of one day. */
  async function oldestBuckets(
    session: ClientSession,
    of: mongo.Filter<AgentBucket>,
    grains: readonly Grain[],
    limit: number,
  ): Promise<AgentBucket[]> {
    for (const grain of grains) {
      const found = await buckets.find({ ...of, grain }, { session, sort: { start: 1 }, limit }).toArray();
      const [first] = found;
      if (first === undefined) continue;
      const day = dayOf(first.start.getTime());
      return found.filter(({ start }) => start.getTime() < day + DAY_MS);
    }
    return [];
  }

  async function replace(session: ClientSession, found: AgentBucket[], by: RollupDelta[]): Promise<AgentBucket[]> {
    await recorder.addToRollups(session, by);
    await buckets.deleteMany({ _id: { $in: found.map(({ _id }) => _id) } }, { session });
    return found;
  }

  /** Minutes and hours are the slots of roll-ups. All longer pieces are sums of these. */
  function moveWorkspace(tenantId: TenantId): AsyncGenerator<number> {
    const of = { tenant_id: tenantId, level: 'workspace' } as const;
    return repeat(async (session) => {
      const [oldest] = await oldestBuckets(session, of, GRAINS, 1);
      if (oldest === undefined) return [];
      const day = dayOf(oldest.start.getTime());
      const start = { $gte: new Date(day), $lt: new Date(day + DAY_MS) };
      const found = await buckets.find({ ...of, grain: { $in: [...GRAINS] }, start }, { session }).toArray();
      const deltas = createRollupDeltas();
      for (const bucket of found) {
        const { grain, start, runs_started = 0 } = bucket;
        if (grain === '15m' || grain === '1d') continue;
        const slot = workspaceSlot(deltas.at(tenantId, PERIOD_OF[grain], start.getTime()), start.getTime());
        addTally(slot.tally, toTally(bucket));
        slot.runsStarted += runs_started;
      }
      return replace(session, found, deltas.all());
    });
  }

  /** A row of an agent holds what the others do not, so what a model's row takes over is taken out of the agent's. */
  function moveModels(tenantId: TenantId): AsyncGenerator<number> {
    return repeat(async (session) => {
      const found = await oldestBuckets(session, { tenant_id: tenantId, level: 'model' }, AGENT_GRAINS, PIECE);
      const settled = new Map<string, Tally>();
      for (const { agent_id, start, ...bucket } of found) {
        addTallyTo(settled, JSON.stringify([agent_id, start]), toTally(bucket));
      }
      const grain = found[0]?.grain;
      const changes = [...settled].map(([key, tally]): mongo.AnyBulkWriteOperation<AgentBucket> => {
        const [agent_id, start] = JSON.parse(key) as [string, string];
        const filter = { tenant_id: tenantId, level: 'agent', agent_id, grain, start: new Date(start) } as const;
        const sums = Object.entries(sumsOf(tally)).map(([column, sum]) => [column, -sum]);
        const $max = { settled_at: new Date(tally.lastAt) };
        return { updateOne: { filter, update: { $inc: Object.fromEntries(sums) as Record<string, number>, $max } } };
      });
      if (changes.length > 0) await buckets.bulkWrite(changes, { session });
      return replace(
        session,
        found,
        deltasOf(tenantId, found, (bucket) => bucket.model ?? null),
      );
    });
  }

  /** What is left of agents when their models are moved: calls that were not settled. */
  function moveAgents(tenantId: TenantId): AsyncGenerator<number> {
    return repeat(async (session) => {
      const found = await oldestBuckets(session, { tenant_id: tenantId, level: 'agent' }, AGENT_GRAINS, PIECE);
      const withRest = found.filter((bucket) => {
        const tally = toTally(bucket);
        return Object.keys(sumsOf(tally)).length > 0 || tally.lastAt > (bucket.settled_at?.getTime() ?? 0);
      });
      return replace(
        session,
        found,
        deltasOf(tenantId, withRest, () => undefined),
      );
    });
  }

  return {
    async left() {
      const counts = [events, runs, buckets].map((collection) => collection.estimatedDocumentCount());
      return (await Promise.all(counts)).reduce((sum, count) => sum + count, 0);
    },
    async *move() {
      for await (const tenantId of tenantsOf(events)) yield* moveEvents(tenantId);
      for await (const tenantId of tenantsOf(runs)) yield* moveRuns(tenantId);
      for await (const tenantId of tenantsOf(buckets)) {
        yield* moveWorkspace(tenantId);
        yield* moveModels(tenantId);
        yield* moveAgents(tenantId);
      }
    },
    async drop() {
      for (const collection of [events, runs, buckets]) {
        if ((await collection.countDocuments({}, { limit: 1 })) > 0) {
          throw new Error(
            `Something was written to ${collection.collectionName} meanwhile: does a replica of 0.1 run?`,
          );
        }
        await collection.drop();
      }
    },
  };
}

/** What buckets of agents, which are of one grain, add to roll-ups. */
function deltasOf(
  tenantId: TenantId,
  found: AgentBucket[],
  modelOf: (bucket: AgentBucket) => string | null | undefined,
): RollupDelta[] {
  const deltas = createRollupDeltas();
  for (const bucket of found) {
    const { grain, agent_id = '' } = bucket;
    const time = bucket.start.getTime();
    const rows = deltas.at(tenantId, PERIOD_OF[grain], time)[rowKindOf(grain)];
    const slots = rowSlots(rows, { name: agent_id, model: modelOf(bucket) });
    addToSlot(slots, slotsOf(grain, 'rows', time).first, toTally(bucket));
  }
  return deltas.all();
}

/** The workspaces that have documents in the collection, which has an index that begins with them. */
async function* tenantsOf(collection: { findOne: FindTenant }): AsyncGenerator<TenantId> {
  let last = '';
  for (;;) {
    const next = await collection.findOne({ tenant_id: { $gt: last } }, { sort: { tenant_id: 1 } });
    if (next === null) return;
    last = next.tenant_id;
    yield next.tenant_id;
  }
}

type FindTenant = (filter: object, options: { sort: object }) => Promise<{ tenant_id: TenantId } | null>;
