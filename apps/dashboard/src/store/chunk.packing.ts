import type { TenantId } from '@tollkeeper/kernel';
import { mongo } from 'mongoose';
import type { DashboardEvent } from '../domain/event.ts';
import type { RunStart } from '../domain/run.ts';
import { packEvents, packMarks, type RunMark } from './chunk.codec.ts';
import { identityKeys, runStartKey } from './chunk.keys.ts';

/** Events of one workspace and one day of UTC. A chunk is never changed. */
export interface ChunkDocument {
  _id: mongo.ObjectId;
  tenantId: TenantId;
  /** The least and the greatest time of its events and marks. */
  from: Date;
  to: Date;
  /** The number of events. */
  count: number;
  /** In the order of their times: see `chunk.codec.ts`. */
  events: mongo.Binary;
  /** When runs start; absent when none does. */
  marks?: mongo.Binary;
  /** Of the events, their settlements and the runs of the marks: see `chunk.keys.ts`. */
  keys: string[];
  /** The agents and runs of the events. */
  agents: string[];
  runs: string[];
}

export const DAY_MS = 86_400_000;
/** Most events in a chunk. Queries read whole chunks, and need few events at each end of their window. */
const MAX_EVENTS = 1_024;

export interface TenantMark extends RunMark {
  tenantId: TenantId;
}

/** What `starts` change: the run starts at `to`, and no longer at `from`. */
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

function cutDay(events: DashboardEvent[], marks: TenantMark[]): ChunkDocument[] {
  events.sort((a, b) => a.time - b.time);
  const pieces = Math.max(1, Math.ceil(events.length / MAX_EVENTS));
  const size = Math.ceil(events.length / pieces);
  const cut = Array.from({ length: pieces }, (_, piece) => ({
    events: events.slice(piece * size, (piece + 1) * size),
    marks: [] as TenantMark[],
  }));
  for (const mark of marks) {
    const piece = cut.find(({ events: of }) => (of.at(-1)?.time ?? -Infinity) >= mark.time);
    (piece ?? cut.at(-1)!).marks.push(mark);
  }
  return cut.map((piece) => toChunk(piece.events, piece.marks));
}

/** At least one event or mark. */
function toChunk(events: readonly DashboardEvent[], marks: readonly TenantMark[]): ChunkDocument {
  const { tenantId } = (events[0] ?? marks[0])!;
  const times = [...marks.map(({ time }) => time), ...[events[0], events.at(-1)].flatMap((event) => event?.time ?? [])];
  const keys = new Set<string>();
  const agents = new Set<string>();
  const runs = new Set<string>();
  for (const event of events) {
    for (const key of identityKeys(event)) keys.add(key);
    const { run_id, agent_id } = event.data;
    if (run_id !== undefined) runs.add(run_id);
    if (agent_id !== undefined) agents.add(agent_id);
  }
  for (const { runId } of marks) keys.add(runStartKey(tenantId, runId));
  return {
    _id: new mongo.ObjectId(),
    tenantId,
    from: new Date(Math.min(...times)),
    to: new Date(Math.max(...times)),
    count: events.length,
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
