import { useRead } from '../../api/api.ts';
import { useSpan } from '../../app/span.ts';
import { colourOf } from '../../charts/colours.ts';
import { StackedBars } from '../../charts/stacked-bars.tsx';
import { tickLabel } from '../../charts/ticks.ts';
import { exactMoney, shortMoney } from '../../format/money.ts';
import { count } from '../../format/numbers.ts';
import { dateTime } from '../../format/time.ts';
import { text } from '../../text/index.ts';
import { Card, Loaded } from '../../ui/parts.tsx';

const words = text.overview;

export function SpendChart() {
  const { zone, query } = useSpan();
  const series = useRead('GET /api/v1/dashboard/spend/series', { query }, { live: true });
  const every = series.data === undefined ? '' : `, ${words.everyInterval[series.data.interval]}`;
  return (
    <Card title={`${words.series}${every}`}>
      <Loaded query={series} height={282}>
        {({ points, interval, window }) => {
          const first = points.findIndex(({ budget_blocked }) => budget_blocked > 0);
          const blocked = points.reduce((sum, { budget_blocked }) => sum + budget_blocked, 0);
          return (
            <StackedBars
              label={`${words.series}${every}`}
              series={[{ key: 'spend', name: words.column.spend, colour: colourOf(0) }]}
              points={points.map(({ start, total_micros }, index) => ({
                key: start,
                label: tickLabel(start, interval, zone),
                title: dateTime(start, zone),
                values: [total_micros],
                running: index === points.length - 1 && Date.parse(window.end) > Date.now(),
              }))}
              short={shortMoney}
              exact={exactMoney}
              mark={first < 0 ? undefined : { index: first, text: words.blockedMark(count(blocked)) }}
            />
          );
        }}
      </Loaded>
    </Card>
  );
}
