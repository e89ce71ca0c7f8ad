import { createHash } from 'node:crypto';
import type { RuleKind } from '@tollkeeper/contracts';
import type { Condition, SavedCondition } from './condition.ts';
import { MAX_LATENESS_MS, MAX_RECEIPT_DISORDER_MS } from './event.ts';
import { FirstOccurrenceCondition, SPAN_BYTES } from './first-occurrence.condition.ts';
import { BYTES_PER_ENTRY } from './saved-sum.ts';
import { MAX_SPEND_ENTRIES, SumCondition } from './sum.condition.ts';

/** What a rule says about its condition beside the kind, in the form of the API. */
export interface Thresholds {
  /** Events; 0 for the kinds that count none. */
  threshold: number;
  /** USD micros; 0 for the kinds that are not about spend. */
  thresholdMicros: number;
}

interface ConditionFields {
  event_count_gte: { threshold: number };
  first_occurrence: unknown;
  spend_gte: { thresholdMicros: number };
}

/** What must hold for a rule to fire; a {@link Condition} says whether it does. */
export type RuleCondition<K extends RuleKind = RuleKind> = { [P in K]: { kind: P } & ConditionFields[P] }[K];

/** All that differs from one kind of rules to another. */
interface Kind<K extends RuleKind> {
  of(thresholds: Thresholds): RuleCondition<K>;
  /** The inverse of `of`: 0 for what the kind has not. */
  describe(condition: RuleCondition<K>): Thresholds;
  /** Begins with an empty window, or continues from one that was saved for the same condition and `stagger`. */
  open(condition: RuleCondition<K>, windowMs: number, stagger: number, saved?: SavedCondition<K>): Condition;
  /** Most bytes that the window takes in the evaluator's memory, about. */
  cost(condition: RuleCondition<K>, windowMs: number): number;
  /** About how many bytes what was saved takes in a store. */
  savedBytes(saved: SavedCondition<K>): number;
  /** What makes the window smaller, for people. */
  cheaper: string;
}

/** How far behind and ahead of the clock the events of `first_occurrence` are whose spans are kept. */
const COVERED_MS = 2 * MAX_LATENESS_MS + MAX_RECEIPT_DISORDER_MS;

const KINDS: { [K in RuleKind]: Kind<K> } = {
  event_count_gte: {
    of: ({ threshold }) => ({ kind: 'event_count_gte', threshold }),
    describe: ({ threshold }) => ({ threshold, thresholdMicros: 0 }),
    open: ({ kind, threshold }, windowMs, stagger, saved) =>
      new SumCondition(kind, windowMs, threshold, stagger, saved?.sum),
    cost: ({ threshold }) => BYTES_PER_ENTRY.unit * threshold,
    savedBytes: ({ sum }) => sum.entries.byteLength,
    cheaper: 'Lower rule_config.threshold',
  },
  first_occurrence: {
    of: () => ({ kind: 'first_occurrence' }),
    describe: () => ({ threshold: 0, thresholdMicros: 0 }),
    open: (_condition, windowMs, _stagger, saved) => new FirstOccurrenceCondition(windowMs, saved?.spans),
    cost: (_condition, windowMs) => SPAN_BYTES * (1 + Math.ceil(COVERED_MS / windowMs)),
    savedBytes: ({ spans }) => SPAN_BYTES * spans.length,
    cheaper: 'Raise rule_config.window_seconds',
  },
  spend_gte: {
    of: ({ thresholdMicros }) => ({ kind: 'spend_gte', thresholdMicros }),
    describe: ({ thresholdMicros }) => ({ threshold: 0, thresholdMicros }),
    open: ({ kind, thresholdMicros }, windowMs, stagger, saved) =>
      new SumCondition(kind, windowMs, thresholdMicros, stagger, saved?.sum),
    cost: ({ thresholdMicros }) => BYTES_PER_ENTRY.amount * Math.min(thresholdMicros, MAX_SPEND_ENTRIES),
    savedBytes: ({ sum }) => sum.entries.byteLength,
    cheaper: 'Set rule_kind to event_count_gte with a low rule_config.threshold',
  },
};

function kindOf<K extends RuleKind>({ kind }: RuleCondition<K>): Kind<K> {
  return KINDS[kind];
}

/** The condition of that kind with these thresholds; what the kind has not is left out. */
export function conditionOf(kind: RuleKind, thresholds: Thresholds): RuleCondition {
  return KINDS[kind].of(thresholds);
}

export function thresholdsOf<K extends RuleKind>(condition: RuleCondition<K>): Thresholds {
  return kindOf(condition).describe(condition);
}

/** What a rule watches for: its condition, over a window of event time. */
export interface Watch {
  condition: RuleCondition;
  windowSeconds: number;
}

/** The condition of a rule over an empty window or, where one was saved for the same condition, over that. */
export function openCondition(
  { id, condition, windowSeconds }: Watch & { id: string },
  saved?: SavedCondition,
): Condition {
  return open(condition, windowSeconds * 1000, staggerOf(id), saved);
}

function open<K extends RuleKind>(
  condition: RuleCondition<K>,
  windowMs: number,
  stagger: number,
  saved?: SavedCondition,
): Condition {
  const ofKind = saved !== undefined && isOf(condition.kind, saved) ? saved : undefined;
  return kindOf(condition).open(condition, windowMs, stagger, ofKind);
}

/** The same from 0 to below 1 for the same rule, and spread evenly over rules. */
function staggerOf(ruleId: string): number {
  return createHash('sha256').update(ruleId).digest().readUInt32BE() / 2 ** 32;
}

function isOf<K extends RuleKind>(kind: K, saved: SavedCondition): saved is SavedCondition & SavedCondition<K> {
  return saved.kind === kind;
}

/** Most bytes that the rule's window takes in the evaluator's memory, about. */
export function costOf({ condition, windowSeconds }: Watch): number {
  return cost(condition, windowSeconds * 1000);
}

function cost<K extends RuleKind>(condition: RuleCondition<K>, windowMs: number): number {
  return kindOf(condition).cost(condition, windowMs);
}

/** About how many bytes a saved condition takes in a store. */
export function savedBytesOf<K extends RuleKind>(saved: SavedCondition<K>): number {
  const kind: Kind<K> = KINDS[saved.kind];
  return kind.savedBytes(saved);
}

/** What makes a rule's window smaller: a field, and which way. */
export function wayToLowerCost({ condition }: Watch): string {
  return KINDS[condition.kind].cheaper;
}
