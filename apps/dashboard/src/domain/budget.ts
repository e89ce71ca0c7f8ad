import { localDays, MAX_MICROS, roundTo2, type TenantId, type TimeWindow } from '@tollkeeper/kernel';

/** A daily budget in USD micros, or null when none is set. */
export type DailyBudget = number | null;

/**
 * The amount that a daily budget allows over a window: the budget times the number of local calendar days in the
 * window.
 */
export function windowBudget(daily: DailyBudget, window: TimeWindow): DailyBudget {
  return daily === null ? null : Math.min(daily * localDays(window, window.timezone).length, MAX_MICROS);
}

/** Spend as a percentage of the window's budget, with 2 decimals. 0 when there is no budget or it is 0. */
export function budgetUsedPct(totalMicros: number, daily: DailyBudget, window: TimeWindow): number {
  const allowed = windowBudget(daily, window);
  return allowed === null || allowed === 0 ? 0 : roundTo2((totalMicros / allowed) * 100);
}

/** The daily budget, or the last known one. */
export interface KnownBudget {
  daily: DailyBudget;
  /** True when the budgets service does not answer. Then `daily` is the last known budget, or null. */
  stale: boolean;
}

/** Reads daily budgets. It never rejects, so spend is shown even when the budget is unknown. */
export interface Budgets {
  ofWorkspace(tenantId: TenantId): Promise<KnownBudget>;
  ofAgent(tenantId: TenantId, agentId: string): Promise<KnownBudget>;
}
