import { MAX_MICROS, roundTo2, type TimeSpan, type TimeWindow } from '@tollkeeper/kernel';
import { budgetUsedPct, windowBudget, type DailyBudget, type KnownBudget } from '../domain/budget.ts';
import type { DashboardEvent } from '../domain/event.ts';
import type { Tally } from '../domain/tally.ts';

/** Epoch milliseconds as the API writes them. */
export function toTimestamp(epochMs: number): string {
  return new Date(epochMs).toISOString();
}

/** A sum as the API writes it: beyond the largest amount, that amount. */
export function toMicros(sum: number): number {
  return Math.min(sum, MAX_MICROS);
}

export function toWindow({ kind, start, end, timezone }: TimeWindow) {
  return { kind, start: toTimestamp(start), end: toTimestamp(end), timezone };
}

export function toMetrics({ totalMicros, settlements }: Tally, daily: DailyBudget, window: TimeWindow) {
  return {
    total_micros: toMicros(totalMicros),
    unique_settlements: settlements,
    avg_micros_per_settlement: settlements === 0 ? 0 : roundTo2(totalMicros / settlements),
    budget_used_pct: budgetUsedPct(totalMicros, daily, window),
  };
}

export function toBudget(daily: DailyBudget, window: TimeWindow) {
  return { daily_budget_usd_micros: daily, window_budget_usd_micros: windowBudget(daily, window) };
}

/** What marks an answer whose budget can't be asked for just now. */
export function toBudgetMark({ stale }: KnownBudget) {
  return stale ? { budget_stale: true as const } : {};
}

export function toPoint({ start }: TimeSpan, tally: Tally) {
  return {
    start: toTimestamp(start),
    total_micros: toMicros(tally.totalMicros),
    unique_settlements: tally.settlements,
    budget_blocked: tally.budgetBlocked,
    guard_blocked: tally.guardBlocked,
  };
}

/** An event as a list item: its identity, its time and its data. */
export function toItem({ eventId, time, data }: DashboardEvent) {
  return { event_id: eventId, occurred_at: toTimestamp(time), ...data };
}

/** An event in full. */
export function toFullEvent(event: DashboardEvent) {
  return { ...toItem(event), source: event.source, type: event.type };
}
