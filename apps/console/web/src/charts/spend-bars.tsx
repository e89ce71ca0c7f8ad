import type { Api } from '../api/api.ts';
import { useSpan } from '../app/span.ts';
import { exactMoney, shortMoney } from '../format/money.ts';
import { StackedBars, type StackedBarsProps } from './stacked-bars.tsx';
import { tickLabel } from './ticks.ts';
import { titlesOf } from './titles.ts';

interface SpendBarsProps extends Pick<StackedBarsProps, 'label' | 'series' | 'mark' | 'height'> {
  interval: Api.SpendSeries['interval'];
  /** Micros of each series, from the bottom up. */
  points: readonly { start: string; micros: readonly number[] }[];
}

/** Spend over the page's span. */
export function SpendBars({ interval, points, ...chart }: SpendBarsProps) {
  const { zone, isRunning } = useSpan();
  const titles = titlesOf(
    points.map(({ start }) => start),
    zone,
  );
  return (
    <StackedBars
      {...chart}
      points={points.map(({ start, micros }, index) => ({
        key: start,
        label: tickLabel(start, interval, zone),
        title: titles[index] ?? '',
        values: micros,
        running: index === points.length - 1 && isRunning,
      }))}
      short={shortMoney}
      exact={exactMoney}
    />
  );
}
