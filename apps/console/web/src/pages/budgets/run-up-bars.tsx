import type { Api } from '../../api/api.ts';
import { useSpan } from '../../app/span.ts';
import { exactMoney, money, shortMoney } from '../../format/money.ts';
import { text } from '../../text/index.ts';
import { addUp, barsOf, projectionOf } from '../../charts/run-up.ts';
import { StackedBars, type StackedBarsProps } from '../../charts/stacked-bars.tsx';
import { tickLabel } from '../../charts/ticks.ts';
import { titlesOf } from '../../charts/titles.ts';
import type { Unfinished } from '../../charts/unfinished.ts';

interface RunUpBarsProps extends Pick<StackedBarsProps, 'label' | 'series'> {
  kind: Unfinished;
  /** Of the answer that the points are from. */
  window: Api.Window;
  points: readonly { start: string; micros: readonly number[] }[];
  /** The limit that the spend counts in; undefined without one. */
  limit: Api.Limit | undefined;
  /** The first call that a budget blocked. */
  blocked?: { at: string; text: string } | undefined;
}

const words = text.common.chart;

const INTERVALS: Record<Unfinished, Api.SpendSeries['interval']> = { day: '1h', month: '1d' };

/** The spend of a day or month so far, added up and drawn to its end, with the limit and the projected spend. */
export function RunUpBars({ kind, window, points, limit, blocked, label, ...chart }: RunUpBarsProps) {
  const { zone } = useSpan();
  const start = Date.parse(window.start);
  const now = Date.parse(window.end);
  const bars = barsOf(kind, start, zone);
  const sums = addUp(points, bars, now);
  const spent = sums.at(-1)?.reduce((sum, each) => sum + each, 0) ?? 0;
  const projected = projectionOf(bars, now, spent);
  const starts = bars.slice(0, -1);
  const titles = titlesOf(starts, zone);
  const markIndex = blocked === undefined ? -1 : starts.findLastIndex((at) => at <= Date.parse(blocked.at));
  return (
    <StackedBars
      {...chart}
      label={`${label}, ${limit === undefined ? words.added : words.addedTo(limit.budget_name, money(limit.limit_micros))}`}
      points={starts.map((at, index) => ({
        key: String(at),
        label: tickLabel(new Date(at).toISOString(), INTERVALS[kind], zone),
        title: titles[index] ?? '',
        values: sums[index] ?? [],
        running: index === sums.length - 1,
        projected: projected[index],
      }))}
      mark={blocked && markIndex >= 0 ? { index: markIndex, text: blocked.text } : undefined}
      limit={limit && { value: limit.limit_micros, text: words.limit }}
      short={shortMoney}
      exact={exactMoney}
    />
  );
}
