import { type BarPoint, type Limit, totalOf } from './bars.ts';
import css from './charts.module.css';
import { LEFT, type Scale } from './scale.ts';

/** The limit across the chart. Its label is at the left, where sums that grow are lowest. */
export function LimitLine({ limit, scale: { width, y } }: { limit: Limit; scale: Scale }) {
  const at = y(limit.value);
  return (
    <g className={css['limit']}>
      <line x1={LEFT} x2={width} y1={at} y2={at} />
      <text x={LEFT + 4} y={at + 13}>
        {limit.text}
      </text>
    </g>
  );
}

/** From the last sum to the projected ones. */
export function Projection({ points, scale: { x, y, bar } }: { points: readonly BarPoint[]; scale: Scale }) {
  const last = points.findLastIndex(({ values }) => values.length > 0);
  const projected = points.flatMap(({ projected: value }, index) =>
    value === undefined ? [] : [`${x(index) + bar},${y(value)}`],
  );
  if (last < 0 || projected.length === 0) return null;
  const from = `${x(last) + bar / 2},${y(totalOf(points[last]!))}`;
  return <polyline className={css['projection']} points={[from, ...projected].join(' ')} />;
}
