import { type BudgetPeriod, MAX_MICROS } from '@tollkeeper/kernel';
import type { BudgetRisk, LimitView } from './enforcement.ts';
import type { LimitRow } from './limit.ts';
import { budgetOf } from './limit.rows.ts';

/** From this part of a period on, its spend so far says something about its end. */
const MIN_ELAPSED = 0.05;
/** From this part of the limit on, a budget is at risk whatever its pace is. */
const MUCH = 0.8;

/** Whether all spend leaves a period at once. Spend leaves a rolling one step by step, so it has no sum at its end. */
const ENDS: Record<BudgetPeriod['kind'], boolean> = {
  hour: true,
  day: true,
  week: true,
  month: true,
  quarter: true,
  year: true,
  once: true,
  rolling: false,
};

/**
 * The spend at the end of the period at the pace of the part that has elapsed, in USD micros: spend divided by that
 * part. Null before 5% of the period have elapsed, and for rolling periods.
 */
export function paceEnd(row: LimitRow, now: number): number | null {
  const { start, end } = row.period;
  const elapsed = Math.min(1, (now - start) / (end - start));
  if (!ENDS[budgetOf(row).period] || elapsed < MIN_ELAPSED) return null;
  return Math.min(Math.round(row.spentMicros / elapsed), MAX_MICROS);
}

/** Whether most of the limit is spent, or it will be exceeded at this pace. A limit of 0 is a decision, not a risk. */
function isAtRisk({ limitMicros, spentMicros, paceEndMicros }: LimitView): boolean {
  return limitMicros > 0 && (spentMicros >= MUCH * limitMicros || (paceEndMicros ?? 0) > limitMicros);
}

/** The part of the limit that will be spent at this pace, or that is spent if the pace is unknown. */
function riskOf({ limitMicros, spentMicros, paceEndMicros }: LimitView): number {
  return limitMicros === 0 ? -1 : (paceEndMicros ?? spentMicros) / limitMicros;
}

/** At most `max` budgets, those at risk first, then by risk. Of several limits of a budget, the first in this order. */
export function mostAtRisk(limits: readonly LimitView[], max: number): BudgetRisk[] {
  const byRisk = limits
    .map((limit) => ({ limit, isAtRisk: isAtRisk(limit), risk: riskOf(limit) }))
    .sort((a, b) => Number(b.isAtRisk) - Number(a.isAtRisk) || b.risk - a.risk);
  const budgets = new Map<string, BudgetRisk>();
  for (const { limit, isAtRisk } of byRisk) {
    const { id } = budgetOf(limit);
    if (!budgets.has(id)) budgets.set(id, { limit, isAtRisk });
    if (budgets.size === max) break;
  }
  return [...budgets.values()];
}
