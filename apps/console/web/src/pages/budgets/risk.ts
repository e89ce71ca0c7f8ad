import type { Api } from '@tollkeeper/client';
import type { PeriodKind } from '../../text/budget-sentence.ts';

/** From this part of a period on, its spend so far says something about its end. */
const MIN_PASSED = 0.05;
/** From this part of the limit on, a budget is at risk whatever its pace is. */
const MUCH = 0.8;

/** Whether a period ends at once, so that there is a sum to foresee. Spend leaves a rolling one step by step. */
const ENDS: Record<PeriodKind, boolean> = {
  hour: true,
  day: true,
  week: true,
  month: true,
  quarter: true,
  year: true,
  once: true,
  rolling: false,
};
/** A newer service may have other kinds. */
const ENDS_BY_KIND = new Map<string, boolean>(Object.entries(ENDS));

type Spent = Pick<Api.Limit, 'spent_micros' | 'limit_micros' | 'period'>;

/**
 * The spend at the end of the period if it goes on as in the part that has passed: spend divided by that part. Null
 * before 5% of the period have passed, and for periods without one end.
 */
export function forecastOf({ spent_micros: spent, period }: Spent, now: number): number | null {
  if (ENDS_BY_KIND.get(period.kind) !== true) return null;
  const start = Date.parse(period.start);
  const passed = Math.min(1, (now - start) / (Date.parse(period.end) - start));
  return passed < MIN_PASSED ? null : Math.round(spent / passed);
}

/** The spent part of the limit. A limit of 0 is used up. */
export function usedOf({ spent_micros: spent, limit_micros: limit }: Spent): number {
  return limit === 0 ? 1 : spent / limit;
}

/** The larger of the part of the limit that is spent and the part that is forecast. */
export function riskOf(limit: Spent, now: number): number {
  const forecast = limit.limit_micros === 0 ? null : forecastOf(limit, now);
  return Math.max(usedOf(limit), (forecast ?? 0) / limit.limit_micros || 0);
}

/** Whether most of the limit is spent, or its pace exceeds it. A limit of 0 is a decision, not a risk. */
function isAtRisk(limit: Spent, now: number): boolean {
  if (limit.limit_micros === 0) return false;
  return usedOf(limit) >= MUCH || (forecastOf(limit, now) ?? 0) > limit.limit_micros;
}

export interface BudgetAtRisk {
  limit: Api.Limit;
  risk: number;
  forecast: number | null;
}

/** At most so many budgets, the highest risk first. A budget with several limits has the one with the highest risk. */
export function findBudgetsAtRisk(limits: readonly Api.Limit[], now: number, most: number): BudgetAtRisk[] {
  const found = limits
    .filter((limit) => isAtRisk(limit, now))
    .map((limit) => ({ limit, risk: riskOf(limit, now), forecast: forecastOf(limit, now) }))
    .toSorted((a, b) => b.risk - a.risk);
  const budgets = new Map<string, BudgetAtRisk>();
  for (const each of found) if (!budgets.has(each.limit.budget_id)) budgets.set(each.limit.budget_id, each);
  return [...budgets.values()].slice(0, most);
}
