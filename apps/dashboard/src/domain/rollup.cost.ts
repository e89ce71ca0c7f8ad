import type { TenantId } from '@tollkeeper/kernel';
import type { DashboardEvent } from './event.ts';
import { PERIOD_MS, PERIODS, periodStart, ROW_KINDS } from './rollup.ts';
import { partOf, type Parts } from './rollup.parts.ts';

/** A part of a roll-up is rewritten whole. It is as large as about so many other documents. */
const PART_COST = 8;
/** What is stored with others in one document costs its keys in an index: so much of a document. */
export const PACKED_COST = 1 / 4;

/**
 * Makes a function that says, for one event after the other, how much it adds to the roll-ups that are rewritten, in
 * documents.
 */
export function createRollupCounter(partsOf: (tenantId: TenantId) => Parts): (event: DashboardEvent) => number {
  const touched = new Set<string>();
  return ({ tenantId, time, data }) => {
    const before = touched.size;
    const parts = partsOf(tenantId);
    for (const period of PERIODS) {
      const key = `${tenantId}|${period}|${periodStart(period, time)}|`;
      touched.add(key);
      if (data.agent_id === undefined) continue;
      for (const kind of period === 'day' ? ROW_KINDS : (['agents'] as const)) {
        const part = partOf(data.agent_id, parts[kind]);
        if (part !== 0) touched.add(`${key}${kind}${part}`);
      }
    }
    return (touched.size - before) * PART_COST;
  };
}

/**
 * Makes a function that counts, for one event after the other, how many further documents its run needs at most: the
 * run itself, and the roll-ups that its start may leave. A start only moves back. So these roll-ups lie between the
 * event and `newest`, the latest possible time of an event.
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
    const left = Math.min(PERIODS.length * seen.runs.size, rollupsBetween(seen.oldest, newest));
    const more = left - seen.left;
    seen.left = left;
    return newRuns * PACKED_COST + more * PART_COST;
  };
}

/** How many roll-ups of a workspace cover the times from `from` to `to`, both included. */
function rollupsBetween(from: number, to: number): number {
  return PERIODS.reduce(
    (sum, period) => sum + (periodStart(period, to) - periodStart(period, from)) / PERIOD_MS[period] + 1,
    0,
  );
}
