import type { TenantId } from '@tollkeeper/kernel';
import { SPEND_SETTLED, type DashboardEvent } from './event.ts';
import { addTally, emptyTally, tallyOf, type Tally } from './tally.ts';

/**
 * Roll-up lengths, longest first. Buckets start at multiples of their length since the epoch. Every UTC offset in use
 * is a multiple of 15 minutes, so each local hour and day consists of whole buckets.
 */
export const GRAINS = ['1d', '1h', '15m', '1m'] as const;
export type Grain = (typeof GRAINS)[number];

/**
 * Only the workspace as a whole has buckets of a minute. They keep the cost of a window's ends independent of the
 * traffic. For each agent and model, there would be nearly as many such buckets as events.
 */
export const AGENT_GRAINS: readonly Grain[] = ['1d', '1h', '15m'];

export const GRAIN_MS: Record<Grain, number> = { '1d': 86_400_000, '1h': 3_600_000, '15m': 900_000, '1m': 60_000 };

/** The scope of a bucket: the whole workspace, one of its agents, or one model of an agent (null: not named). */
export type BucketScope =
  | { level: 'workspace' }
  | { level: 'agent'; agentId: string }
  | { level: 'model'; agentId: string; model: string | null };

/** The changes of one bucket by a batch of events. */
export interface BucketDelta {
  tenantId: TenantId;
  scope: BucketScope;
  grain: Grain;
  /** Epoch milliseconds. */
  start: number;
  tally: Tally;
  /**
   * Runs whose first event lies in the bucket. Negative when a late event moved the start of a run to another bucket.
   */
  runsStarted: number;
}

/** The first event of a run lies at `to`. `from` is its time as known before, if any. */
export interface RunStart {
  tenantId: TenantId;
  runId: string;
  from: number | undefined;
  to: number;
}

function bucketStart(grain: Grain, time: number): number {
  return Math.floor(time / GRAIN_MS[grain]) * GRAIN_MS[grain];
}

/**
 * The earliest event of each run in `events`, if it is earlier than the known start of the run (see {@link runKey}).
 */
export function runStarts(events: DashboardEvent[], known: ReadonlyMap<string, number>): RunStart[] {
  const starts = new Map<string, RunStart>();
  for (const { tenantId, time, data } of events) {
    if (data.run_id === undefined) continue;
    const key = runKey(tenantId, data.run_id);
    const from = known.get(key);
    if (time < (starts.get(key)?.to ?? from ?? Infinity))
      starts.set(key, { tenantId, runId: data.run_id, from, to: time });
  }
  return [...starts.values()];
}

export function runKey(tenantId: TenantId, runId: string): string {
  return `${tenantId}|${runId}`;
}

/** The changes of the buckets of all grains and scopes by `events` and `starts`: one delta per bucket. */
export function bucketDeltas(events: DashboardEvent[], starts: RunStart[]): BucketDelta[] {
  const deltas = new Map<string, BucketDelta>();
  const at = (tenantId: TenantId, scope: BucketScope, grain: Grain, time: number): BucketDelta => {
    const start = bucketStart(grain, time);
    const key = bucketKey(tenantId, scope, grain, start);
    let delta = deltas.get(key);
    if (delta === undefined) {
      delta = { tenantId, scope, grain, start, tally: emptyTally(), runsStarted: 0 };
      deltas.set(key, delta);
    }
    return delta;
  };
  const counted = events.map((event) => ({ event, tally: tallyOf(event), scopes: scopesOf(event) }));
  for (const grain of GRAINS) {
    for (const { event, tally, scopes } of counted) {
      for (const scope of scopes) {
        if (scope.level !== 'workspace' && !AGENT_GRAINS.includes(grain)) continue;
        addTally(at(event.tenantId, scope, grain, event.time).tally, tally);
      }
    }
    for (const { tenantId, from, to } of starts) {
      at(tenantId, { level: 'workspace' }, grain, to).runsStarted += 1;
      if (from !== undefined) at(tenantId, { level: 'workspace' }, grain, from).runsStarted -= 1;
    }
  }
  return [...deltas.values()];
}

/**
 * Makes a function that counts, for one event after the other, the buckets that the event touches and no earlier one
 * did.
 */
export function createBucketCounter(): (event: DashboardEvent) => number {
  const minutes = new Set<string>();
  const quarters = new Set<string>();
  const buckets = new Set<string>();
  return (event) => {
    const { tenantId, time, type, data } = event;
    let known = minutes.size;
    minutes.add(`${tenantId}|${bucketStart('1m', time)}`);
    const minute = minutes.size - known;
    // Events of the same subject within 15 minutes share all other buckets, so most events end here.
    known = quarters.size;
    quarters.add(`${tenantId}|${bucketStart('15m', time)}|${data.agent_id ?? ''}|${type}|${data.model ?? ''}`);
    if (quarters.size === known) return minute;
    known = buckets.size;
    for (const scope of scopesOf(event)) {
      for (const grain of AGENT_GRAINS) buckets.add(bucketKey(tenantId, scope, grain, bucketStart(grain, time)));
    }
    return minute + buckets.size - known;
  };
}

/** How many buckets of a workspace cover the times from `from` to `to`, both included. */
function bucketsBetween(from: number, to: number): number {
  return GRAINS.reduce(
    (sum, grain) => sum + (bucketStart(grain, to) - bucketStart(grain, from)) / GRAIN_MS[grain] + 1,
    0,
  );
}

/**
 * Makes a function that counts, for one event after the other, how many further documents its run needs at most: the
 * run itself, and the buckets that its start may leave. A start only moves back. So these buckets lie between the event
 * and `newest`, the latest possible time of an event.
 */
export function createRunCounter(newest: number): (event: DashboardEvent) => number {
  const byTenant = new Map<TenantId, { runs: Set<string>; oldest: number; left: number }>();
  return ({ tenantId, time, data }) => {
    if (data.run_id === undefined) return 0;
    let seen = byTenant.get(tenantId);
    if (seen === undefined) byTenant.set(tenantId, (seen = { runs: new Set(), oldest: newest, left: 0 }));
    const known = seen.runs.size;
    seen.runs.add(data.run_id);
    const newRuns = seen.runs.size - known;
    if (newRuns === 0 && time >= seen.oldest) return 0;
    seen.oldest = Math.min(seen.oldest, time);
    const left = Math.min(GRAINS.length * seen.runs.size, bucketsBetween(seen.oldest, newest));
    const more = left - seen.left;
    seen.left = left;
    return newRuns + more;
  };
}

/** Identity of a bucket. A model's name is free text, so it comes last. */
export function bucketKey(tenantId: TenantId, scope: BucketScope, grain: Grain, start: number): string {
  const agent = scope.level === 'workspace' ? '' : scope.agentId;
  const model = scope.level === 'model' && scope.model !== null ? `|${scope.model}` : '';
  return `${tenantId}|${grain}|${start}|${scope.level}|${agent}${model}`;
}

function scopesOf(event: DashboardEvent): BucketScope[] {
  const scopes: BucketScope[] = [{ level: 'workspace' }];
  const agentId = event.data.agent_id;
  if (agentId !== undefined) scopes.push({ level: 'agent', agentId });
  if (agentId !== undefined && event.type === SPEND_SETTLED) {
    scopes.push({ level: 'model', agentId, model: event.data.model ?? null });
  }
  return scopes;
}
