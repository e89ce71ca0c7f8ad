import { useRead } from '../../api/api.ts';
import { useSpan } from '../../app/span.ts';
import { seriesOf } from '../../charts/breakdown.ts';
import { SpendBars } from '../../charts/spend-bars.tsx';
import { ChartSpace } from '../../charts/stacked-bars.tsx';
import { text } from '../../text/index.ts';
import { Card, Loaded } from '../../ui/parts.tsx';

const words = text.overview;

/** Agents with their own series in the chart. */
export const IN_CHART = 4;

/** Spend by agent over time, and when the first budget was used up. */
export function SpendChart() {
  const { query } = useSpan();
  const breakdown = useRead(
    'GET /api/v1/dashboard/spend/breakdown',
    { query: { ...query, by: 'agent', limit: IN_CHART } },
    { live: true },
  );
  const series = useRead('GET /api/v1/dashboard/spend/series', { query }, { live: true });
  const every = breakdown.data === undefined ? '' : `, ${words.everyInterval[breakdown.data.interval]}`;
  const blocked = series.data?.points.reduce((sum, { budget_blocked }) => sum + budget_blocked, 0) ?? 0;
  const first = series.data?.points.find(({ budget_blocked }) => budget_blocked > 0);
  return (
    <Card title={`${words.seriesByAgent}${every}`}>
      <Loaded query={breakdown} height={<ChartSpace named />}>
        {(data) => {
          const index = data.points.findIndex(({ start }) => start === first?.start);
          return (
            <SpendBars
              label={`${words.seriesByAgent}${every}`}
              interval={data.interval}
              series={seriesOf(data)}
              points={data.points}
              mark={index < 0 ? undefined : { index, text: words.blockedMark(blocked) }}
            />
          );
        }}
      </Loaded>
    </Card>
  );
}
