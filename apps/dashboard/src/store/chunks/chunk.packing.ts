import type { TenantId } from '@tollkeeper/kernel';
import { mongo } from 'mongoose';
import type { DashboardEvent } from '../../domain/event.ts';
import type { RunStart } from '../../domain/run.ts';
import { packEvents, packMarks, type RunMark } from './chunk.codec.ts';
import { identityKeys, runStartKey } from './chunk.keys.ts';

/** Events of one workspace and UTC day. A chunk is never changed. */
export interface ChunkDocument {
  _id: mongo.ObjectId;
  tenantId: TenantId;
  /** The earliest and the latest time of its events and marks. */
  from: Date;
  to: Date;
  /** The quarters of an hour that contain them: see {@link quarterOf}. */
  quarters: number[];
  /** The number of events and marks. */
  size: number;
  /** In the order of their times: see `chunk.codec.ts`. */
  events: mongo.Binary;
  /** The starts of runs; absent if there are none. */
  marks?: mongo.Binary;
  /** The keys of the events, their settlements and the runs of the marks: see `chunk.keys.ts`. */
  keys: string[];
  /** The agents and runs of the events. */
  agents: string[];
  runs: string[];
}

export const DAY_MS = 86_400_000;
const QUARTER_MS = 900_000;
/**
 * Most events in a chunk, and most marks. Queries read whole chunks, but need few events at each end of their window.
 */
const MAX_EACH = 1_024;

export interface TenantMark extends RunMark {
  tenantId: TenantId;
}

/** The effect of `starts`: each run starts at `to`, and no longer at `from`. */
export function marksOf(starts: readonly RunStart[]): TenantMark[] {
  return starts.flatMap(({ tenantId, runId, from, to }): TenantMark[] => [
    { tenantId, runId, time: to, starts: 1 },
    ...(from === undefined ? [] : [{ tenantId, runId, time: from, starts: -1 } as const]),
  ]);
}

/** Events and marks by workspace and day, in pieces that follow one another in time. */
export function toChunks(events: readonly DashboardEvent[], marks: readonly TenantMark[]): ChunkDocument[] {
  const dayKey = ({ tenantId, time }: { tenantId: TenantId; time: number }): string => `${tenantId}|${dayOf(time)}`;
  const eventsByDay = Map.groupBy(events, dayKey);
  const marksByDay = Map.groupBy(marks, dayKey);
  return [...new Set([...eventsByDay.keys(), ...marksByDay.keys()])].flatMap((key) =>
    cutDay(eventsByDay.get(key) ?? [], marksByDay.get(key) ?? []),
  );
}

/** Pieces with equal numbers of events, and of marks. */
function cutDay(events: DashboardEvent[], marks: TenantMark[]): ChunkDocument[] {
  const pieces = Math.ceil(Math.max(events.length, marks.length) / MAX_EACH);
  const cut = <T extends { time: number }>(all: T[]): T[][] => {
    all.sort((a, b) => a.time - b.time);
    const size = Math.ceil(all.length / pieces);
    return Array.from({ length: pieces }, (_, piece) => all.slice(piece * size, (piece + 1) * size));
  };
  const cutMarks = cut(marks);
  return cut(events).map((piece, index) => toChunk(piece, cutMarks[index]!));
}

/** Needs at least one event or mark. */
function toChunk(events: readonly DashboardEvent[], marks: readonly TenantMark[]): ChunkDocument {
  const { tenantId } = (events[0] ?? marks[0])!;
  const times = [...marks, ...[events[0], events.at(-1)].flatMap((event) => event ?? [])].map(({ time }) => time);
  const quarters = new Set<number>();
  const keys = new Set<string>();
  const agents = new Set<string>();
  const runs = new Set<string>();
  for (const event of events) {
    quarters.add(quarterOf(event.time));
    for (const key of identityKeys(event)) keys.add(key);
    const { run_id, agent_id } = event.data;
    if (run_id !== undefined) runs.add(run_id);
    if (agent_id !== undefined) agents.add(agent_id);
  }
  for (const { runId, time } of marks) {
    quarters.add(quarterOf(time));
    keys.add(runStartKey(tenantId, runId));
  }
  return {
    _id: new mongo.ObjectId(),
    tenantId,
    from: new Date(Math.min(...times)),
    to: new Date(Math.max(...times)),
    quarters: [...quarters],
    size: events.length + marks.length,
    events: new mongo.Binary(packEvents(events)),
    ...(marks.length > 0 && { marks: new mongo.Binary(packMarks(marks)) }),
    keys: [...keys],
    agents: [...agents],
    runs: [...runs],
  };
}

export function dayOf(time: number): number {
  return Math.floor(time / DAY_MS) * DAY_MS;
}

/** The number of the quarter of an hour, counted from the epoch. */
export function quarterOf(time: number): number {
  return Math.floor(time / QUARTER_MS);
}
