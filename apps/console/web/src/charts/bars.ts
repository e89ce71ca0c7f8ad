export interface Series {
  key: string;
  name: string;
  colour: string;
}

export interface BarPoint {
  key: string;
  /** Label on the axis. */
  label: string;
  /** Label in the tooltip and the table: exact, and unambiguous when the clocks change. */
  title: string;
  /** One for each series, from the bottom up; none if the point has not begun. */
  values: readonly number[];
  /** Whether the point has not ended yet. */
  running?: boolean;
  /** What the sum is projected to be at the end of the point, if it has not ended. */
  projected?: number | undefined;
}

export interface Limit {
  value: number;
  text: string;
}

/** What a chart draws, and shows as a table. */
export interface ChartNumbers {
  /** Description of the chart in a sentence. */
  label: string;
  series: readonly Series[];
  points: readonly BarPoint[];
  /** A line that the sums should stay below. */
  limit?: Limit | undefined;
  /** Format in the tooltip and the table. */
  exact: (value: number) => string;
}

export function totalOf({ values }: Pick<BarPoint, 'values'>): number {
  return values.reduce((sum, value) => sum + value, 0);
}

/** The largest value of a chart, with its limit. */
export function highestOf({ points, limit }: Pick<ChartNumbers, 'points' | 'limit'>): number {
  return Math.max(0, limit?.value ?? 0, ...points.map((point) => Math.max(totalOf(point), point.projected ?? 0)));
}
