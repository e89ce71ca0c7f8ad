import css from './charts.module.css';

const WIDTH = 96;
const HEIGHT = 22;

/** The trend of a few numbers, without an axis; the table beside it has the numbers. */
export function Sparkline({
  values,
  label,
  colour = 'var(--c1)',
}: {
  values: readonly number[];
  label: string;
  colour?: string;
}) {
  const highest = Math.max(1, ...values);
  const step = WIDTH / Math.max(1, values.length - 1);
  const path = values
    .map((value, index) => `${index * step},${HEIGHT - 2 - (value / highest) * (HEIGHT - 4)}`)
    .join(' ');
  return (
    <svg className={css['spark']} width={WIDTH} height={HEIGHT} role="img" aria-label={label}>
      <polyline points={path} fill="none" stroke={colour} strokeWidth={1.5} strokeLinejoin="round" />
    </svg>
  );
}
