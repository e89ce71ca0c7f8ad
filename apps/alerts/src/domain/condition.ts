import type { RuleKind } from '@tollkeeper/contracts';
import type { BudgetPeriod, TimeSpan } from '@tollkeeper/kernel';
import type { BudgetTerms } from './budget.terms.ts';
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
}

/** How fast a budget burns. Times are epoch milliseconds. */
export interface BurnFacts {
  budgetId: string;
  budgetName: string;
  /** The value that the limit is for; null if the budget has no limit for each value, and for further values. */
  value: string | null;
  /** Whether it is about all values together that have no sums of their own. */
  isOfOthers: boolean;
  limitMicros: number;
  periodKind: BudgetPeriod['kind'];
  /** Null outside of a period that is once. */
  period: TimeSpan | null;
  /** Start of the long window. */
  since: number;
  longMicros: number;
  shortMicros: number;
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

interface SavedFields {
  event_count_gte: { sum: SavedSum };
  first_occurrence: { spans: Span[] };
  spend_gte: { sum: SavedSum };
  deviation_gte: SavedDeviation;
  burn_rate_gte: SavedBurn;
}

/** A condition as it is stored, by the kind of rule. */
export type SavedCondition<K extends RuleKind = RuleKind> = { [P in K]: { kind: P } & SavedFields[P] }[K];
