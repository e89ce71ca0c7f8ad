import type { TenantId } from '@tollkeeper/kernel';
import type { DashboardEvent } from './event.ts';

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
