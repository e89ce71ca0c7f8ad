import { emptyTally, MEASURES, type Measure, type Tally } from '../domain/tally.ts';

/** The names of the measures in buckets, and in aggregations of events. */
const COLUMNS = {
  totalMicros: 'total_micros',
  settlements: 'settlements',
  inputTokens: 'input_tokens',
  outputTokens: 'output_tokens',
  budgetBlocked: 'budget_blocked',
  guardBlocked: 'guard_blocked',
  lastAt: 'last_at',
} as const satisfies Record<keyof Tally, string>;

type Column = (typeof COLUMNS)[keyof Tally];

/**
 * A tally as buckets store it and aggregations return it. A bucket from before a measure was added lacks its column.
 */
export type TallyRow = {
  [Name in keyof Tally as (typeof COLUMNS)[Name]]?: (typeof MEASURES)[Name]['combine'] extends 'max' ? Date : number;
};

const ENTRIES = (Object.entries(MEASURES) as [keyof Tally, Measure][]).map(
  ([name, measure]) => [name, { ...measure, column: COLUMNS[name] }] as const,
);

function perColumn<T>(valueOf: (measure: Measure & { column: Column }) => T): Record<Column, T> {
  return Object.fromEntries(ENTRIES.map(([, measure]) => [measure.column, valueOf(measure)])) as Record<Column, T>;
}

export const TALLY_PROJECTION = perColumn(() => 1);

/** The accumulators of a `$group` stage over buckets. */
export const SUMS_OF_BUCKETS = perColumn(({ column, combine }) => ({ [`$${combine}`]: `$${column}` }));

/** The accumulators of a `$group` stage over raw events. */
export const SUMS_OF_EVENTS = perColumn(({ of, combine }) => ({ [`$${combine}`]: valueIn(of) }));

function valueIn(of: Measure['of']): unknown {
  if (of === 'time') return '$time';
  const amount = of.amount === undefined ? 1 : { $ifNull: [`$data.${of.amount}`, of.absent ?? 0] };
  return { $cond: [{ $eq: ['$type', of.type] }, amount, 0] };
}

export function toTally(row: TallyRow): Tally {
  const tally = emptyTally();
  // $max of no date is null.
  for (const [name, { column }] of ENTRIES) tally[name] = Number(row[column] ?? 0);
  return tally;
}

/** The sums of a tally, by column. */
export function sumsOf(tally: Tally): Partial<Record<Column, number>> {
  const sums = ENTRIES.filter(([name, { combine }]) => combine === 'sum' && tally[name] !== 0);
  return Object.fromEntries(sums.map(([name, { column }]) => [column, tally[name]]));
}
