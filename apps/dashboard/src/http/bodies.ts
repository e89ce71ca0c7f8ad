import { MAX_MICROS, roundTo2, type TimeSpan, type TimeWindow } from '@tollkeeper/kernel';
import type { BudgetRisk } from '../domain/budget-risk.ts';
import { budgetUsedPct, windowBudget, type DailyBudget, type KnownBudget } from '../domain/budget.ts';
import type { Blocker, DashboardEvent } from '../domain/event.ts';
import { OTHER } from '../domain/names.ts';
import type { SpendTally, Tally } from '../domain/tally.ts';
import type { QueryWindow } from './window.ts';

/** Epoch milliseconds as an API timestamp. */
export function toTimestamp(epochMs: number): string {
  return new Date(epochMs).toISOString();
}

/** A sum as an API number, capped at the largest that the API allows. */
export function toSum(sum: number): number {
  return Math.min(sum, MAX_MICROS);
}

export function toWindow({ kind, start, end, timezone, eventsFrom }: QueryWindow) {
  return {
    ...{ kind, start: toTimestamp(start), end: toTimestamp(end), timezone },
    ...(eventsFrom !== undefined && { events_from: toTimestamp(eventsFrom) }),
  };
}

/** The tokens that belong to a sum of spend. */
export function toTokens({ inputTokens, outputTokens }: SpendTally) {
  return { input_tokens: toSum(inputTokens), output_tokens: toSum(outputTokens) };
}

/** The kinds of tokens that are parts of others. */
export function toTokenParts(tally: SpendTally) {
  return {
    cache_read_tokens: toSum(tally.cacheReadTokens),
    cache_write_tokens: toSum(tally.cacheWriteTokens),
    cache_write_1h_tokens: toSum(tally.cacheWrite1hTokens),
    reasoning_tokens: toSum(tally.reasoningTokens),
  };
}

/** Calls that spend does not include, or as 0. */
export function toUnknownSpend({ unmetered, unpriced }: Tally) {
  return { unmetered: { calls: unmetered }, unpriced: { calls: unpriced } };
}

/** Blocked calls, by what blocked them. */
export function toBlocked({ budgetBlocked, guardBlocked }: Tally): Record<Blocker, number> {
  return { budget: budgetBlocked, guard: guardBlocked };
}

/** Blocked calls, as separate fields. */
export function toBlockedFields({ budgetBlocked, guardBlocked }: Tally): Record<`${Blocker}_blocked`, number> {
  return { budget_blocked: budgetBlocked, guard_blocked: guardBlocked };
}

export function toMetrics(tally: Tally, daily: DailyBudget, window: TimeWindow) {
  const { totalMicros, settlements } = tally;
  return {
    total_micros: toSum(totalMicros),
    unique_settlements: settlements,
    avg_micros_per_settlement: settlements === 0 ? 0 : roundTo2(totalMicros / settlements),
    budget_used_pct: budgetUsedPct(totalMicros, daily, window),
    ...toTokens(tally),
    ...toTokenParts(tally),
  };
}

export function toBudget(daily: DailyBudget, window: TimeWindow) {
  return { daily_budget_usd_micros: daily, window_budget_usd_micros: windowBudget(daily, window) };
}

export function toBudgetRisk({ value, period, raised, ...budget }: BudgetRisk) {
  return {
    budget_id: budget.budgetId,
    budget_name: budget.budgetName,
    ...(value !== undefined && { value }),
    period: { kind: period.kind, start: toTimestamp(period.start), end: toTimestamp(period.end) },
    limit_micros: budget.limitMicros,
    ...(raised && { raised_micros: raised.micros, raised_until: toTimestamp(raised.until) }),
    spent_micros: budget.spentMicros,
    held_micros: budget.heldMicros,
    pace_end_micros: budget.paceEndMicros,
    at_risk: budget.isAtRisk,
    state: budget.isFilling ? ('filling' as const) : ('exact' as const),
  };
}

/** The field that marks an answer whose budget is not up to date. */
export function toBudgetMark({ stale }: KnownBudget) {
  return stale ? { budget_stale: true as const } : {};
}

/** What a group settled, and its share of `whole`. */
export function toSpend(tally: SpendTally, whole: Pick<SpendTally, 'totalMicros'>) {
  return {
    total_micros: toSum(tally.totalMicros),
    unique_settlements: tally.settlements,
    ...toTokens(tally),
    share_pct: whole.totalMicros === 0 ? 0 : roundTo2((tally.totalMicros / whole.totalMicros) * 100),
  };
}

/** A name from settlements, or null, as the field `of`. */
export function toName<Field extends string>(of: Field, name: string | null) {
  const field = { [of]: name === OTHER ? null : name } as Record<Field, string | null>;
  return name === OTHER ? { ...field, other: true as const } : field;
}

export function toPoint({ start }: TimeSpan, tally: Tally) {
  return {
    start: toTimestamp(start),
    total_micros: toSum(tally.totalMicros),
    unique_settlements: tally.settlements,
    ...toTokens(tally),
    ...toBlockedFields(tally),
  };
}

/** An event as a list item: its identity, time and data. */
export function toItem({ eventId, time, data }: DashboardEvent) {
  return { event_id: eventId, occurred_at: toTimestamp(time), ...data };
}

/** An event in full. */
export function toFullEvent(event: DashboardEvent) {
  return { ...toItem(event), source: event.source, type: event.type };
}
