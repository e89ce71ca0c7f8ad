import { emptyTally, MEASURES, type Measure, type Tally } from '../domain/tally.ts';

type Measures = typeof MEASURES;
type Column = Measures[keyof Measures]['column'];

/**
 * A tally as buckets store it and aggregations return it. A bucket from before a measure was added lacks its column.
 */
export type TallyRow = {
  [Name in keyof Measures as Measures[Name]['column']]?: Measures[Name]['combine'] extends 'max' ? Date : number;
};

const ENTRIES = Object.entries(MEASURES) as [keyof Tally, Measure & { column: Column }][];

function perColumn<T>(valueOf: (measure: Measure) => T): Record<Column, T> {
  return Object.fromEntries(ENTRIES.map(([, measure]) => [measure.column, valueOf(measure)])) as Record<Column, T>;
}

export const TALLY_PROJECTION = perColumn(() => 1);

/** The accumulators of a `$group` stage over buckets. */
export const SUMS_OF_BUCKETS = perColumn(({ column, combine }) => ({ [`$${combine}`]: `$${column}` }));

/** The accumulators of a `$group` stage over raw events. */
export const SUMS_OF_EVENTS = perColumn(({ of, combine }) => ({ [`$${combine}`]: valueIn(of) }));

function valueIn(of: Measure['of']): unknown {
  if (of === 'time') return '$time';
  return { $cond: [{ $eq: ['$type', of.type] }, of.amount === undefined ? 1 : `$data.${of.amount}`, 0] };
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
