import type { RuleKind } from '@tollkeeper/contracts';
import type { CountableEvent } from './event.ts';
import type { Span } from './coverage.ts';
import type { SavedSum } from './saved-sum.ts';

/**
 * The condition of one rule over its matching events. It is fed with each of them in the order of the log, which is not
 * the order of their times, and remembers no more than it needs.
 */
export interface Condition {
  /**
   * Takes the event into account. `unchanged`: it was counted before, or is too old to matter. `became_true`: the
   * condition holds with the event and would not without it. `still_true`: it holds either way. `not_met`: it does not
   * hold.
   */
  take(event: CountableEvent): Verdict;
  /** What the condition was met by, with `event` the one that it was met with. */
  evidence(event: CountableEvent): Evidence;
  /** The time up to which it is met without any further event, epoch milliseconds; null when it is not met at all. */
  metUntil(): number | null;
  /** About how many bytes of memory grow with what it remembers. */
  readonly heldBytes: number;
  /** About how many bytes `save` makes a store write. */
  readonly unsavedBytes: number;
  /** What a store lacks that has all that was saved before. */
  save(): SavedCondition;
  /** Says that what `save` answered is in the store. */
  saved(): void;
}

export type Verdict = 'unchanged' | 'not_met' | 'became_true' | 'still_true';

/** The events behind a decision; times are epoch milliseconds. */
export interface Evidence {
  /** The window is `(windowStart, windowEnd]`. */
  windowStart: number;
  windowEnd: number;
  eventCount: number;
  /** What the events counted have settled, in USD micros; null where the condition is not about spend. */
  settledMicros: number | null;
  sampleEventIds: string[];
  firstEventAt: number;
  lastEventAt: number;
}

interface SavedFields {
  event_count_gte: { sum: SavedSum };
  first_occurrence: { spans: Span[] };
  spend_gte: { sum: SavedSum };
}

/** A condition as a store keeps it, by the kind of the rule. */
export type SavedCondition<K extends RuleKind = RuleKind> = { [P in K]: { kind: P } & SavedFields[P] }[K];
