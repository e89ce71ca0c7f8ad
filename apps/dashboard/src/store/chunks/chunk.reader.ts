import type { TenantId, TimeSpan } from '@tollkeeper/kernel';
import type { mongo } from 'mongoose';
import { withCorrections } from '../../domain/corrections.ts';
import { eventKey, isSpend, SPEND_SETTLED, type DashboardEvent } from '../../domain/event.ts';
import { UNLIMITED, type ReadMeter } from '../../domain/reads.ts';
import type { RunStartStore } from '../../domain/tallies.ts';
import {
  BY_AGENT,
  BY_QUARTER,
  BY_RUN,
  eventsOf,
  marksOfRuns,
  type ChunkCollection,
  type FindChunks,
} from './chunk.collection.ts';
import { DAY_MS, quarterOf, type ChunkDocument } from './chunk.packing.ts';

export interface ChunkReader extends RunStartStore {
  /**
   * The events in `span`, of one agent or of all, in any order. Their `data` has only `fields`, and they have no id.
   */
  eventsIn(
    tenantId: TenantId,
    span: TimeSpan,
    fields: readonly string[],
    agentId?: string,
    meter?: ReadMeter,
  ): AsyncGenerator<DashboardEvent>;
  /** The oldest settlements of a run, oldest first, at most `limit`. */
  oldestOfRun(tenantId: TenantId, runId: string, limit: number, meter?: ReadMeter): Promise<DashboardEvent[]>;
  /** The newest settlements of an agent in `span`, newest first, at most `limit`. */
  newestOfAgent(
    tenantId: TenantId,
    agentId: string,
    span: TimeSpan,
    limit: number,
    meter?: ReadMeter,
  ): Promise<DashboardEvent[]>;
  hasAgent(tenantId: TenantId, agentId: string): Promise<boolean>;
}

/** Chunks per batch in reads that stop when they have enough. */
const AT_ONCE = 4;
/** Chunks per batch in reads of all chunks. */
const ALL_AT_ONCE = 16;

export function createChunkReader(chunks: ChunkCollection, find: FindChunks): ChunkReader {
  return {
    async *eventsIn(tenantId, span, fields, agentId, meter = UNLIMITED) {
      const ofAgent = agentId !== undefined && { agents: agentId };
      const filter = { tenantId, ...ofAgent, ...overlapping(span), quarters: { $in: quartersOf(span) } };
      const hint = agentId === undefined ? BY_QUARTER : BY_AGENT;
      for await (const chunk of find(filter, 'events', { hint, batchSize: ALL_AT_ONCE })) {
        meter.take(chunk.events.position);
        for (const event of eventsOf(chunk, { span, fields, ids: false })) {
          if (agentId === undefined || event.data.agent_id === agentId) yield event;
        }
      }
    },
    async oldestOfRun(tenantId, runId, limit, meter = UNLIMITED) {
      const oldest = firstSettlements(limit, byOldest);
      const options = { hint: BY_RUN, sort: { from: 1 }, batchSize: AT_ONCE } as const;
      for await (const chunk of find({ tenantId, runs: runId }, 'events', options)) {
        if (oldest.last !== undefined && oldest.last.time < chunk.from.getTime()) break;
        meter.take(chunk.events.position);
        for (const event of eventsOf(chunk)) if (isSpend(event) && event.data.run_id === runId) oldest.add(event);
        oldest.trim();
      }
      return oldest.settlements();
    },
    async newestOfAgent(tenantId, agentId, span, limit, meter = UNLIMITED) {
      const newest = firstSettlements(limit, byNewest);
      const options = { hint: BY_AGENT, sort: { to: -1 }, batchSize: AT_ONCE } as const;
      for await (const chunk of find({ tenantId, agents: agentId, ...overlapping(span) }, 'events', options)) {
        if (newest.last !== undefined && newest.last.time > chunk.to.getTime()) break;
        meter.take(chunk.events.position);
        for (const event of eventsOf(chunk, { span })) {
          if (isSpend(event) && event.data.agent_id === agentId) newest.add(event);
        }
        newest.trim();
      }
      return newest.settlements();
    },
    hasAgent: async (tenantId, agentId) =>
      (await chunks.findOne({ tenantId, agents: agentId }, { projection: { _id: 1 } })) !== null,
    async countRunStarts(tenantId, { raw }, meter = UNLIMITED) {
      const counts = await Promise.all(
        raw.map(async (span) => {
          let runs = 0;
          const filter = {
            tenantId,
            ...overlapping(span),
            quarters: { $in: quartersOf(span) },
            marks: { $exists: true },
          };
          for await (const chunk of find(filter, 'marks', { hint: BY_QUARTER, batchSize: ALL_AT_ONCE })) {
            meter.take(chunk.marks?.position ?? 0);
            for (const { time, starts } of marksOfRuns(chunk))
              if (time >= span.start && time < span.end) runs += starts;
          }
          return runs;
        }),
      );
      return counts.reduce((sum, count) => sum + count, 0);
    },
  };
}

/** Collects the first `limit` settlements in an order, with their corrections. */
function firstSettlements(limit: number, order: (a: DashboardEvent, b: DashboardEvent) => number) {
  let settlements: DashboardEvent[] = [];
  let corrections: DashboardEvent[] = [];
  /** The last one, once there are enough. */
  let last: DashboardEvent | undefined;
  return {
    get last() {
      return last;
    },
    add(event: DashboardEvent): void {
      (event.type === SPEND_SETTLED ? settlements : corrections).push(event);
    },
    /** Drops what is not among the first. */
    trim(): void {
      settlements = settlements.sort(order).slice(0, limit);
      last = settlements[limit - 1];
      // A correction has the time of its settlement, which may be read after it.
      corrections = corrections.filter(
        (event) => last === undefined || event.time === last.time || order(event, last) < 0,
      );
    },
    settlements: () => withCorrections([...settlements, ...corrections]),
  };
}

/** Newest first. With equal times, the event whose key is larger in byte order, as in the database. */
export function byNewest(a: DashboardEvent, b: DashboardEvent): number {
  return b.time - a.time || Buffer.compare(Buffer.from(eventKey(b)), Buffer.from(eventKey(a)));
}

export function byOldest(a: DashboardEvent, b: DashboardEvent): number {
  return -byNewest(a, b);
}

/** A chunk covers one day, so chunks that end a day after the span cannot overlap it. */
export function overlapping({ start, end }: TimeSpan): mongo.Filter<ChunkDocument> {
  return { to: { $gte: new Date(start), $lt: new Date(end + DAY_MS) }, from: { $lt: new Date(end) } };
}

export function quartersOf({ start, end }: TimeSpan): number[] {
  const first = quarterOf(start);
  return Array.from({ length: quarterOf(end - 1) - first + 1 }, (_, index) => first + index);
}
