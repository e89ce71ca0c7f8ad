import { localDays, MAX_MICROS, roundTo2, type TenantId, type TimeWindow } from '@tollkeeper/kernel';

/** A daily budget in USD micros, or null when none is set. */
export type DailyBudget = number | null;

/** What a daily budget allows over a window: the budget times the local calendar days that the window touches. */
export function windowBudget(daily: DailyBudget, window: TimeWindow): DailyBudget {
  return daily === null ? null : Math.min(daily * localDays(window, window.timezone).length, MAX_MICROS);
}

/**
 * Spend as a percentage of the window's budget, 2 decimals; 0 when no budget is set or it allows nothing.
 */
export function budgetUsedPct(totalMicros: number, daily: DailyBudget, window: TimeWindow): number {
  const allowed = windowBudget(daily, window);
  return allowed === null || allowed === 0 ? 0 : roundTo2((totalMicros / allowed) * 100);
}

/** A daily budget as far as it is known. */
export interface KnownBudget {
  daily: DailyBudget;
  /** True while the budget can't be asked for: `daily` is then the last one known, and null without any. */
  stale: boolean;
}

/** Where daily budgets are asked for. Never rejects: what is shown of a budget must not keep spend from being shown. */
export interface Budgets {
  ofWorkspace(tenantId: TenantId): Promise<KnownBudget>;
  ofAgent(tenantId: TenantId, agentId: string): Promise<KnownBudget>;
}
