import type { TenantId } from '@tollkeeper/kernel';
import { isSpend, type DashboardEvent } from './event.ts';
import { HAS_WHOLE_DAY, PERIOD_MS, PERIODS, periodStart } from './rollup.ts';
import type { PartCounts } from './rollup.parts.ts';
import { runOf } from './run.ts';

/** A part of a roll-up is rewritten as a whole. It is about as large as this many other documents. */
const PART_COST = 6;
/** What is packed with others into one document costs only its index keys: this fraction of a document. */
export const PACKED_COST = 1 / 4;

/**
 * Makes a function that says for each event in turn how much it adds to the roll-ups that are rewritten, in documents.
 * Each divided row may lie in another part, until there are as many rows as parts.
 */
export function createRollupCounter(partsOf: (tenantId: TenantId) => PartCounts): (event: DashboardEvent) => number {
  const touched = new Set<string>();
  const partsTouched = new Map<string, number>();

  /** Whether the row with `key` among `rows` may lie in a part that no earlier row touches. */
  function touchesPart(rows: string, key: string, parts: number): boolean {
    const before = partsTouched.get(rows) ?? 0;
    if (before === parts) return false;
    const known = touched.size;
    touched.add(`${rows}|${key}`);
    if (touched.size === known) return false;
    partsTouched.set(rows, before + 1);
    return true;
  }

  return (event) => {
    const { tenantId, time, data, tracked = [] } = event;
    const { agents, days, plans, labels } = partsOf(tenantId);
    let documents = 0;
    for (const period of PERIODS) {
      const key = `${tenantId}|${period}|${periodStart(period, time)}`;
      const known = touched.size;
      touched.add(key);
      documents += touched.size - known;
      if (data.agent_id !== undefined && Math.max(agents, days) > 1) {
        const row = `${data.agent_id}|${isSpend(event) ? (data.model ?? '') : '|'}`;
        if (agents > 1 && touchesPart(`${key}|agents`, row, agents)) documents += 1;
        if (HAS_WHOLE_DAY[period] && days > 1 && touchesPart(`${key}|days`, row, days)) documents += 1;
      }
      if (data.plan_key !== undefined && plans > 1 && touchesPart(`${key}|plans`, data.plan_key, plans)) documents += 1;
      for (const [name, value] of labels > 1 ? tracked : []) {
        if (touchesPart(`${key}|labels`, `${name}|${value}`, labels)) documents += 1;
      }
    }
    return documents * PART_COST;
  };
}

/**
 * Makes a function that says for each event in turn how many further documents its run needs at most: the run itself,
 * and the roll-ups that its start may leave. A start only moves back, so these roll-ups lie between the event and
 * `newest`, the latest possible time of an event.
 */
export function createRunCounter(newest: number): (event: DashboardEvent) => number {
  const byTenant = new Map<TenantId, { runs: Set<string>; oldest: number; left: number }>();
  return (event) => {
    const { tenantId, time } = event;
    const run = runOf(event);
    if (run === undefined) return 0;
    let seen = byTenant.get(tenantId);
    if (seen === undefined) byTenant.set(tenantId, (seen = { runs: new Set(), oldest: newest, left: 0 }));
    const known = seen.runs.size;
    seen.runs.add(run);
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
