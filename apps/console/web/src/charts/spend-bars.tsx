import type { Api } from '../api/api.ts';
import { useSpan } from '../app/span.ts';
import { exactMoney, shortMoney } from '../format/money.ts';
import { dateTime, dateTimeWithOffset } from '../format/time.ts';
import { StackedBars, type StackedBarsProps } from './stacked-bars.tsx';
import { tickLabel } from './ticks.ts';

interface SpendBarsProps extends Pick<StackedBarsProps, 'label' | 'series' | 'mark' | 'height'> {
  interval: Api.SpendSeries['interval'];
  /** Micros of each series, from the bottom up. */
  points: readonly { start: string; micros: readonly number[] }[];
}

/** Spend over the page's span. */
export function SpendBars({ interval, points, ...chart }: SpendBarsProps) {
  const { zone, isRunning } = useSpan();
  const titles = points.map(({ start }) => dateTime(start, zone));
  const isTwice = (title: string) => titles.indexOf(title) !== titles.lastIndexOf(title);
  return (
    <StackedBars
      {...chart}
      points={points.map(({ start, micros }, index) => ({
        key: start,
        label: tickLabel(start, interval, zone),
        title: isTwice(titles[index] ?? '') ? dateTimeWithOffset(start, zone) : (titles[index] ?? ''),
        values: micros,
        running: index === points.length - 1 && isRunning,
      }))}
      short={shortMoney}
      exact={exactMoney}
    />
  );
}
