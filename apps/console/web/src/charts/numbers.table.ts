import { text } from '../text/index.ts';
import type { Column, TableProps } from '../ui/cells.tsx';
import { type BarPoint, type ChartNumbers, totalOf } from './bars.ts';

const words = text.common.chart;

/** The numbers of a chart as a table, the newest first. */
export function tableOf({ label, series, points, limit, exact }: ChartNumbers): TableProps<BarPoint> {
  const has = ({ values }: BarPoint) => values.length > 0;
  const isProjected = points.some(({ projected }) => projected !== undefined);
  const hasTotal = series.length > 1 && (isProjected || limit !== undefined);
  const columns: Column<BarPoint>[] = [
    { key: 'from', head: words.from, cell: (point) => point.title },
    ...series.map(({ key, name }, index) => ({
      ...numbers(key, name, exact, (point) => (has(point) ? (point.values[index] ?? 0) : undefined)),
      // On a phone, there is only room for the total.
      wide: hasTotal,
    })),
  ];
  if (hasTotal) {
    columns.push(numbers(' total', words.total, exact, (point) => (has(point) ? totalOf(point) : undefined)));
  }
  if (isProjected) columns.push(numbers(' projected', words.projected, exact, ({ projected }) => projected));
  if (limit !== undefined) columns.push({ ...numbers(' limit', limit.text, exact, () => limit.value), wide: true });
  return { label, rows: points.toReversed(), rowKey: (point) => point.key, columns };
}

function numbers(
  key: string,
  head: string,
  exact: (value: number) => string,
  valueOf: (point: BarPoint) => number | undefined,
): Column<BarPoint> {
  return {
    ...{ key, head, align: 'right' },
    cell(point) {
      const value = valueOf(point);
      return value === undefined ? text.common.none : exact(value);
    },
  };
}
