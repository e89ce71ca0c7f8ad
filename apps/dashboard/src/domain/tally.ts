import type { KnownEventType } from '@tollkeeper/contracts';
import {
  BUDGET_BLOCKED,
  CALL_UNMETERED,
  GUARD_BLOCKED,
  NOBODY,
  SPEND_REPRICED,
  SPEND_SETTLED,
  type DashboardEvent,
  type EventAmount,
  type WholeType,
} from './event.ts';
import { correctedBy } from './corrections.ts';
import type { ReadMeter } from './reads.ts';

/** A measure of events, kept in roll-ups. */
export type Measure = { of: OfType; combine: 'sum' | 'max' } | { of: 'time'; combine: 'max' };

/**
 * 1 for each event of the type (with `pricedBy`, only for those that say so), or a field of its data, which counts as
 * `absent` (0) if it is missing.
 */
type OfType =
  | { type: KnownEventType; amount?: undefined; pricedBy?: string }
  | { type: WholeType; amount: EventAmount; absent?: number };

/**
 * All measures. The tallies in memory, the packed form of roll-ups and all queries are made from this table. Stored
 * roll-ups know a measure by its position here: append new ones, and never move or remove one. Roll-ups older than a
 * measure count 0 for it.
 */
export const MEASURES = {
  /** USD micros of the settlements. */
  totalMicros: { of: { type: SPEND_SETTLED, amount: 'amount_micros' }, combine: 'sum' },
  settlements: { of: { type: SPEND_SETTLED }, combine: 'sum' },
  /** Input tokens of the settlements. A settlement without the field counts 0. */
  inputTokens: { of: { type: SPEND_SETTLED, amount: 'input_tokens' }, combine: 'sum' },
  outputTokens: { of: { type: SPEND_SETTLED, amount: 'output_tokens' }, combine: 'sum' },
  /** Blocked calls. One event may report many. */
  budgetBlocked: { of: { type: BUDGET_BLOCKED, amount: 'count', absent: 1 }, combine: 'sum' },
  guardBlocked: { of: { type: GUARD_BLOCKED }, combine: 'sum' },
  /** The time of the newest event of any type, in epoch milliseconds; 0 if there is none. */
  lastAt: { of: 'time', combine: 'max' },
  /** Parts of the input tokens. A settlement that does not divide them counts 0. */
  cacheReadTokens: { of: { type: SPEND_SETTLED, amount: 'cache_read_tokens' }, combine: 'sum' },
  cacheWriteTokens: { of: { type: SPEND_SETTLED, amount: 'cache_write_tokens' }, combine: 'sum' },
  cacheWrite1hTokens: { of: { type: SPEND_SETTLED, amount: 'cache_write_1h_tokens' }, combine: 'sum' },
  /** A part of the output tokens, likewise. */
  reasoningTokens: { of: { type: SPEND_SETTLED, amount: 'reasoning_tokens' }, combine: 'sum' },
  /** Calls of which nobody knows tokens or cost. */
  unmetered: { of: { type: CALL_UNMETERED }, combine: 'sum' },
  /** Settlements of which nobody knows what they cost. */
  unpriced: { of: { type: SPEND_SETTLED, pricedBy: NOBODY }, combine: 'sum' },
} as const satisfies Record<string, Measure>;

/** The measures of a span of time. Tallies of disjoint spans add up to the tally of their union. */
export type Tally = { -readonly [Name in keyof typeof MEASURES]: number };

/** Sums over settlements. Only these can be divided, because spend without a plan is found by subtraction. */
export type SpendTally = Pick<Tally, SumOf<typeof SPEND_SETTLED>>;
/** The measures that are sums over events of the type. */
export type SumOf<Type extends KnownEventType> = {
  [Name in keyof Tally]: (typeof MEASURES)[Name] extends { of: { type: Type }; combine: 'sum' } ? Name : never;
}[keyof Tally];

// Lists of names, because each event passes here several times.
const NAMES = Object.keys(MEASURES) as (keyof Tally)[];
const SUMS = combinedAs('sum');
const LARGEST = combinedAs('max');
/** The fields of events by which {@link tallyOf} counts them. */
export const TALLIED_FIELDS: readonly string[] = [
  ...new Set(NAMES.flatMap((name) => amountOf(MEASURES[name]) ?? [])),
  ...['priced_by', 'from_micros', 'to_micros', 'from_priced_by'],
];
const NOTHING = Object.fromEntries(NAMES.map((name) => [name, 0])) as Tally;

function combinedAs(combine: Measure['combine']): (keyof Tally)[] {
  return NAMES.filter((name) => MEASURES[name].combine === combine);
}

function amountOf({ of }: Measure): EventAmount | undefined {
  return of === 'time' ? undefined : of.amount;
}

export function emptyTally(): Tally {
  return { ...NOTHING };
}

/**
 * The tally of one event. That of a correction may have negative sums: with that of its settlement, which was counted
 * before in the same slots, it is what the settlement counts now.
 */
export function tallyOf({ type, time, data }: Pick<DashboardEvent, 'type' | 'time' | 'data'>): Tally {
  const tally = emptyTally();
  if (type === SPEND_REPRICED) {
    tally.totalMicros = correctedBy(data);
    tally.unpriced = Number(data.priced_by === NOBODY) - Number(data.from_priced_by === NOBODY);
    tally.lastAt = time;
    return tally;
  }
  for (const name of NAMES) {
    const { of }: Measure = MEASURES[name];
    if (of === 'time') tally[name] = time;
    else if (of.type !== type) continue;
    else if (of.amount !== undefined) tally[name] = data[of.amount] ?? of.absent ?? 0;
    else if (of.pricedBy === undefined || of.pricedBy === data.priced_by) tally[name] = 1;
  }
  return tally;
}

/** Adds `other` to `into`. */
export function addTally(into: Tally, other: Tally): void {
  for (const name of SUMS) {
    const more = other[name];
    // Most measures of most tallies are 0, and access by name takes most of the time here.
    if (more !== 0) into[name] += more;
  }
  for (const name of LARGEST) into[name] = Math.max(into[name], other[name]);
}

/** Subtracts the sums of `other`, which was added before, from `from`. */
export function subtractSums(from: Tally, other: Tally): void {
  for (const name of SUMS) from[name] -= other[name];
}

/**
 * Most keys in a read. Senders can make up agents, so nothing else bounds the memory. Further keys of a workspace are
 * left out.
 */
const MAX_KEYS = 100_000;
/** Approximate heap bytes of a key with its tally. */
const KEY_BYTES = 304;

/** Adds the tally of `key`, unless a new key would exceed {@link MAX_KEYS}. `map` may keep the tally object. */
export function holdTally<K>(map: Map<K, Tally>, key: K, tally: Tally, meter: ReadMeter): void {
  const known = map.get(key);
  if (known !== undefined) return addTally(known, tally);
  if (map.size >= MAX_KEYS) return;
  meter.take(KEY_BYTES);
  map.set(key, tally);
}

/** Adds the tally of `key` to a map that starts empty. */
export function addTallyTo<K>(map: Map<K, Tally>, key: K, tally: Tally): void {
  const known = map.get(key);
  if (known === undefined) map.set(key, { ...tally });
  else addTally(known, tally);
}
