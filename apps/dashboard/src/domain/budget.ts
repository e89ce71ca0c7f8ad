import { localDays, MAX_MICROS, roundTo2, type TenantId, type TimeWindow } from '@tollkeeper/kernel';

/** A daily budget in USD micros, or null when none is set. */
export type DailyBudget = number | null;

/** What a daily budget allows over a window: the budget times the local calendar days that the window touches. */
export function windowBudget(daily: DailyBudget, window: TimeWindow): DailyBudget {
  return daily === null ? null : Math.min(daily * localDays(window, window.timezone).length, MAX_MICROS);
}

/** Spend as a percentage of the window's budget, 2 decimals; 0 when no budget is set or it allows nothing (decisions §4). */
export function budgetUsedPct(totalMicros: number, daily: DailyBudget, window: TimeWindow): number {
  const allowed = windowBudget(daily, window);
  return allowed === null || allowed === 0 ? 0 : roundTo2((totalMicros / allowed) * 100);
}

/** Where daily budgets are asked for. */
export interface Budgets {
  ofWorkspace(tenantId: TenantId): Promise<DailyBudget>;
  ofAgent(tenantId: TenantId, agentId: string): Promise<DailyBudget>;
}
