import type { RuleKind } from '@tollkeeper/contracts';
import { BurnCondition, type BurnFields, burnLayout } from './burn.condition.ts';
import type { Condition, SavedCondition } from './condition.ts';
import { DEVIATION_LAYOUT, DeviationCondition, type DeviationFields } from './deviation.condition.ts';
import { MAX_LATENESS_MS, MAX_RECEIPT_DISORDER_MS } from './event.ts';
import { FORECAST_BYTES, ForecastCondition, type ForecastFields } from './forecast.condition.ts';
import { FirstOccurrenceCondition, SPAN_BYTES } from './first-occurrence.condition.ts';
import { RECENT_BYTES } from './recent.settlements.ts';
import { BYTES_PER_ENTRY } from './saved-sum.ts';
import { bytesOfSteps, mostBytes } from './step-sums.ts';
import { type EventSource, MAX_SPEND_ENTRIES, SumCondition, type SumWindow } from './sum.condition.ts';

/** The parameters of a rule's condition besides the kind, in the form of the API. */
export interface Thresholds {
  /** Number of events; 0 for kinds that count none. */
  threshold: number;
  /** USD micros; 0 for kinds that are not about spend. */
  thresholdMicros: number;
  /** Only of `deviation_gte`: the multiple of the median, and the least spend in USD micros. */
  times?: number | undefined;
  minMicros?: number | undefined;
  /** Only of kinds about a budget: see `BurnFields` and `ForecastFields`. */
  budgetId?: string | null | undefined;
  permille?: number | undefined;
  longSeconds?: number | undefined;
  shortSeconds?: number | undefined;
  percent?: number | undefined;
}

interface ConditionFields {
  event_count_gte: { threshold: number };
  first_occurrence: unknown;
  spend_gte: { thresholdMicros: number };
  deviation_gte: DeviationFields;
  burn_rate_gte: BurnFields;
  forecast_gte: ForecastFields;
}

/** The condition that must be met for a rule to fire; a {@link Condition} evaluates it. */
export type RuleCondition<K extends RuleKind = RuleKind> = { [P in K]: { kind: P } & ConditionFields[P] }[K];

/** Everything that differs between kinds of rules. */
interface Kind<K extends RuleKind> {
  of(thresholds: Thresholds): RuleCondition<K>;
  /** The inverse of `of`: 0 for parameters that the kind does not have. */
  describe(condition: RuleCondition<K>): Thresholds;
  /** Opens an empty window, or continues one that was saved for the same condition. */
  open(condition: RuleCondition<K>, window: SumWindow, saved?: SavedCondition<K>): Condition;
  /** Approximate upper bound of the window's memory in the evaluator, in bytes. */
  cost(condition: RuleCondition<K>, windowMs: number): number;
  /** Approximate size of a saved condition in a store, in bytes. */
  savedBytes(saved: SavedCondition<K>): number;
  /** How people can make the window smaller. */
  cheaper: string;
}

/** Length of the range of event times for which `first_occurrence` keeps spans. */
const COVERED_MS = 2 * MAX_LATENESS_MS + MAX_RECEIPT_DISORDER_MS;

const KINDS: { [K in RuleKind]: Kind<K> } = {
  event_count_gte: {
    of: ({ threshold }) => ({ kind: 'event_count_gte', threshold }),
    describe: ({ threshold }) => ({ threshold, thresholdMicros: 0 }),
    open: ({ kind, threshold }, window, saved) => new SumCondition(kind, window, threshold, saved?.sum),
    cost: ({ threshold }) => BYTES_PER_ENTRY.unit * threshold,
    savedBytes: ({ sum }) => sum.entries.byteLength,
    cheaper: 'Lower rule_config.threshold',
  },
  first_occurrence: {
    of: () => ({ kind: 'first_occurrence' }),
    describe: () => ({ threshold: 0, thresholdMicros: 0 }),
    open: (_condition, { windowMs }, saved) => new FirstOccurrenceCondition(windowMs, saved?.spans),
    cost: (_condition, windowMs) => SPAN_BYTES * (1 + Math.ceil(COVERED_MS / windowMs)),
    savedBytes: ({ spans }) => SPAN_BYTES * spans.length,
    cheaper: 'Raise rule_config.window_seconds',
  },
  spend_gte: {
    of: ({ thresholdMicros }) => ({ kind: 'spend_gte', thresholdMicros }),
    describe: ({ thresholdMicros }) => ({ threshold: 0, thresholdMicros }),
    open: ({ kind, thresholdMicros }, window, saved) => new SumCondition(kind, window, thresholdMicros, saved?.sum),
    cost: ({ thresholdMicros }) => BYTES_PER_ENTRY.amount * Math.min(thresholdMicros, MAX_SPEND_ENTRIES),
    savedBytes: ({ sum }) => sum.entries.byteLength,
    cheaper: 'Set rule_kind to event_count_gte with a low rule_config.threshold',
  },
  deviation_gte: {
    of: ({ times = 0, minMicros = 0 }) => ({ kind: 'deviation_gte', times, minMicros }),
    describe: ({ times, minMicros }) => ({ threshold: 0, thresholdMicros: 0, times, minMicros }),
    open: (fields, window, saved) => new DeviationCondition(fields, window, saved),
    cost: () => RECENT_BYTES + mostBytes(DEVIATION_LAYOUT),
    savedBytes: ({ sum, steps }) => sum.entries.byteLength + bytesOfSteps(steps),
    cheaper: 'Set rule_kind to spend_gte with a low rule_config.threshold_micros',
  },
  burn_rate_gte: {
    of: ({ budgetId = null, permille = 0, longSeconds = 0, shortSeconds = 0 }) => ({
      ...{ kind: 'burn_rate_gte', budgetId, permille, longSeconds, shortSeconds },
    }),
    describe: ({ kind: _kind, ...fields }) => ({ threshold: 0, thresholdMicros: 0, ...fields }),
    open: (fields, window, saved) => new BurnCondition(fields, window, saved),
    cost: (fields) => RECENT_BYTES + mostBytes(burnLayout(fields)),
    savedBytes: ({ sum, steps }) => sum.entries.byteLength + bytesOfSteps(steps),
    cheaper: 'Set rule_kind to spend_gte with a low rule_config.threshold_micros',
  },
  forecast_gte: {
    of: ({ budgetId = null, percent = 0 }) => ({ kind: 'forecast_gte', budgetId, percent }),
    describe: ({ kind: _kind, ...fields }) => ({ threshold: 0, thresholdMicros: 0, ...fields }),
    open: (fields, window, saved) => new ForecastCondition(fields, window, saved),
    cost: () => RECENT_BYTES + FORECAST_BYTES,
    savedBytes: ({ sum, steps }) => sum.entries.byteLength + bytesOfSteps(steps),
    cheaper: 'Set rule_kind to burn_rate_gte',
  },
};

function kindOf<K extends RuleKind>({ kind }: RuleCondition<K>): Kind<K> {
  return KINDS[kind];
}

/** The condition of the kind with these thresholds; parameters that the kind does not have are ignored. */
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

/** The condition of a rule over an empty window, or over the window that was saved for the same condition. */
export function openCondition(
  { id, condition, windowSeconds }: Watch & { id: string },
  source: EventSource,
  saved?: SavedCondition,
): Condition {
  return open(condition, { ...source, windowMs: windowSeconds * 1000, ruleId: id }, saved);
}

function open<K extends RuleKind>(condition: RuleCondition<K>, window: SumWindow, saved?: SavedCondition): Condition {
  const ofKind = saved !== undefined && isOf(condition.kind, saved) ? saved : undefined;
  return kindOf(condition).open(condition, window, ofKind);
}

function isOf<K extends RuleKind>(kind: K, saved: SavedCondition): saved is SavedCondition & SavedCondition<K> {
  return saved.kind === kind;
}

/** Approximate upper bound of the window's memory in the evaluator, in bytes. */
export function costOf({ condition, windowSeconds }: Watch): number {
  return cost(condition, windowSeconds * 1000);
}

function cost<K extends RuleKind>(condition: RuleCondition<K>, windowMs: number): number {
  return kindOf(condition).cost(condition, windowMs);
}

/** Approximate size of a saved condition in a store, in bytes. */
export function savedBytesOf<K extends RuleKind>(saved: SavedCondition<K>): number {
  const kind: Kind<K> = KINDS[saved.kind];
  return kind.savedBytes(saved);
}

/** How to make a rule's window smaller: the field to change, and in which direction. */
export function wayToLowerCost({ condition }: Watch): string {
  return KINDS[condition.kind].cheaper;
}
