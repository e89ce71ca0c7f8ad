import type { RuleKind } from '@tollkeeper/contracts';
import type { BudgetFacts, BudgetTerms } from './budget.terms.ts';
import type { CountableEvent } from './event.ts';
import type { Span } from './coverage.ts';
import type { SavedSteps } from './saved-steps.ts';
import type { SavedSum } from './saved-sum.ts';

/**
 * The condition of one rule over its matching events. It gets each event in the order of the log, which is not the
 * order of event times, and keeps no more state than it needs.
 */
export interface Condition {
  /**
   * Takes the event into account. `unchanged`: already counted, or too old to matter. `became_true`: the condition is
   * met with the event and would not be without it. `still_true`: it is met either way. `not_met`: it is not met.
   * `unknown`: from this event on, it could be met, but too little is known of the past.
   */
  take(event: CountableEvent): Verdict;
  /** The events that met the condition, `event` being the one that completed it. */
  evidence(event: CountableEvent): Evidence;
  /** Until when the condition stays met without further events, epoch milliseconds; null if it is not met. */
  metUntil(): number | null;
  /** Approximate memory of the state that grows with the events, in bytes. */
  readonly heldBytes: number;
  /** Approximate number of bytes that storing the result of `save` writes. */
  readonly unsavedBytes: number;
  /** What a store needs to be up to date, if it has everything that was saved before. */
  save(): SavedCondition;
  /** Call when the result of `save` is stored. */
  saved(): void;
  /** Call when the rule no longer needs the condition. */
  close(): void;
}

export type Verdict = 'unchanged' | 'not_met' | 'became_true' | 'still_true' | 'unknown';

/** The events behind a decision; times are epoch milliseconds. */
export interface Evidence {
  /** The window is `(windowStart, windowEnd]`. */
  windowStart: number;
  windowEnd: number;
  eventCount: number;
  /** The sum that the counted events settled, in USD micros; null if the condition is not about spend. */
  settledMicros: number | null;
  sampleEventIds: string[];
  firstEventAt: number;
  lastEventAt: number;
  /** Only of `deviation_gte`. */
  deviation?: DeviationFacts;
  /** Only of `burn_rate_gte`. */
  burn?: BurnFacts;
  /** Only of `forecast_gte`. */
  forecast?: ForecastFacts;
}

/** How fast a budget burns. Times are epoch milliseconds. */
export interface BurnFacts extends BudgetFacts {
  /** Start of the long window. */
  since: number;
  longMicros: number;
  shortMicros: number;
}

/** What a budget will have spent. Times are epoch milliseconds. */
export interface ForecastFacts extends BudgetFacts {
  /** Spend in the period, as far as the rule has counted it. */
  spentMicros: number;
  /** Since when: the start of the period, or the time from which the rule counts if that is later. */
  spentSince: number;
  /** Spend in the hours of the pace. */
  paceMicros: number;
  paceSince: number;
  /** By how many earlier weeks the pace is weighted. */
  weeks: number;
  /** The most that the period will have spent, rounded down to whole micros. */
  forecastMicros: number;
  /** When the limit will be reached; null if not within the period. */
  usedUpAt: number | null;
}

/** The spend of an agent in an hour, and its usual spend in that hour. */
export interface DeviationFacts {
  /** Null for all agents together that have no sums of their own. */
  agentId: string | null;
  /** Start of the hour, epoch milliseconds. */
  hour: number;
  spentMicros: number;
  /** Median of the same hour in earlier weeks, rounded down to whole micros. */
  medianMicros: number;
  /** Number of these weeks. */
  weeks: number;
}

export interface SavedDeviation {
  sum: SavedSum;
  steps: SavedSteps;
  /** End of the newest hour in which the condition was met, epoch milliseconds. */
  metUntil: number | null;
}

export interface SavedBurn {
  sum: SavedSum;
  steps: SavedSteps;
  /** The budget as it was last known. */
  terms: BudgetTerms | null;
  /** By series: until when the condition stays met without further events, epoch milliseconds. */
  met: [series: string, until: number][];
}

export interface SavedForecast {
  sum: SavedSum;
  steps: SavedSteps;
  /** The budget as it was last known. */
  terms: BudgetTerms | null;
  /** Since when all spend of the budget is counted, epoch milliseconds. */
  since: number;
  series: SavedSeries[];
}

/** The spend of a series in its period. Times are epoch milliseconds. */
export interface SavedSeries {
  name: string;
  /** Since when all its spend is counted. */
  since: number;
  /** Time of its newest settlement. */
  newest: number;
  /** The start of each part of its period, with the spend in it: one part, or one for each step of a rolling period. */
  parts: Float64Array;
  /** When the condition was last met; null if never with this limit. */
  metAt: number | null;
  /** Until when the condition stays met without further events; null if it is not met. */
  metUntil: number | null;
}

interface SavedFields {
  event_count_gte: { sum: SavedSum };
  first_occurrence: { spans: Span[] };
  spend_gte: { sum: SavedSum };
  deviation_gte: SavedDeviation;
  burn_rate_gte: SavedBurn;
  forecast_gte: SavedForecast;
}

/** A condition as it is stored, by the kind of rule. */
export type SavedCondition<K extends RuleKind = RuleKind> = { [P in K]: { kind: P } & SavedFields[P] }[K];
