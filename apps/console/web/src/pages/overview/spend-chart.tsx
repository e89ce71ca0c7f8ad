import { useRead } from '../../api/api.ts';
import { useSpan } from '../../app/span.ts';
import { seriesOf } from '../../charts/breakdown.ts';
import { SpendBars } from '../../charts/spend-bars.tsx';
import { ChartSpace } from '../../charts/stacked-bars.tsx';
import { text } from '../../text/index.ts';
import { Card, Loaded } from '../../ui/parts.tsx';
import ui from '../../ui/ui.module.css';
import { ChartKinds, ChartKindsSpace, useChartKind } from '../budgets/chart-kind.tsx';
import { RunUpChart } from '../budgets/run-up-chart.tsx';
import { useSpanLimit } from '../budgets/use-span-limit.ts';

const words = text.overview;

/** Agents with their own series in the chart. */
export const IN_CHART = 4;

/** Spend by agent over time, and when the first budget was used up. Added up, it is drawn with the limit. */
export function SpendChart() {
  const { query } = useSpan();
  const breakdown = useRead(
    'GET /api/v1/dashboard/spend/breakdown',
    { query: { ...query, by: 'agent', limit: IN_CHART } },
    { live: true },
  );
  const series = useRead('GET /api/v1/dashboard/spend/series', { query }, { live: true });
  const { kind, waits, of } = useSpanLimit();
  const limit = breakdown.data && of(breakdown.data.window);
  const shown = useChartKind(limit);
  const every = breakdown.data === undefined ? '' : `, ${words.everyInterval[breakdown.data.interval]}`;
  const blocked = series.data?.points.reduce((sum, { budget_blocked }) => sum + budget_blocked, 0) ?? 0;
  const first = series.data?.points.find(({ budget_blocked }) => budget_blocked > 0);
  return (
    <Card title={`${words.seriesByAgent}${every}`}>
      <div className={ui['stack']}>
        <Loaded query={breakdown} with={waits} height={<Space switches={kind !== undefined} />}>
          {(data) => {
            const chart = { label: `${words.seriesByAgent}${every}`, series: seriesOf(data), points: data.points };
            const mark = words.blockedMark(blocked);
            const index = data.points.findIndex(({ start }) => start === first?.start);
            return (
              <>
                {kind !== undefined && <ChartKinds shown={shown} />}
                {kind !== undefined && shown === 'cumulative' ? (
                  <RunUpChart
                    {...chart}
                    {...{ kind, limit }}
                    window={data.window}
                    blocked={first && { at: first.start, text: mark }}
                  />
                ) : (
                  <SpendBars {...chart} interval={data.interval} mark={index < 0 ? undefined : { index, text: mark }} />
                )}
              </>
            );
          }}
        </Loaded>
      </div>
    </Card>
  );
}

/** As high as the chart that is loading, with the choice of what it shows. */
function Space({ switches }: { switches: boolean }) {
  return (
    <div className={ui['stack']}>
      {switches && <ChartKindsSpace />}
      <ChartSpace named />
    </div>
  );
}
