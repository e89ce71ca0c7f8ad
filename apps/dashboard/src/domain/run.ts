import type { TenantId } from '@tollkeeper/kernel';
import { SPEND_REPRICED, type DashboardEvent } from './event.ts';

/** The first event of a run is at `to`. `from` is its previously known time, if any. */
export interface RunStart {
  tenantId: TenantId;
  runId: string;
  from: number | undefined;
  to: number;
}

/**
 * The earliest event of each run in `events`, if it is earlier than the known start of the run (see {@link runKey}).
 */
export function runStarts(events: DashboardEvent[], known: ReadonlyMap<string, number>): RunStart[] {
  const starts = new Map<string, RunStart>();
  for (const event of events) {
    const { tenantId, time } = event;
    const runId = runOf(event);
    if (runId === undefined) continue;
    const key = runKey(tenantId, runId);
    const from = known.get(key);
    if (time < (starts.get(key)?.to ?? from ?? Infinity)) starts.set(key, { tenantId, runId, from, to: time });
  }
  return [...starts.values()];
}

/**
 * The run that the event may start. A correction starts none: its settlement, which has the same run and time, was
 * counted before.
 */
export function runOf({ type, data }: DashboardEvent): string | undefined {
  return type === SPEND_REPRICED ? undefined : data.run_id;
}

export function runKey(tenantId: TenantId, runId: string): string {
  return `${tenantId}|${runId}`;
}
