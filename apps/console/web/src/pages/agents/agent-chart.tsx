import type { Api } from '../../api/api.ts';
import { colourOf } from '../../charts/colours.ts';
import { SpendBars } from '../../charts/spend-bars.tsx';
import { text } from '../../text/index.ts';
import { Card } from '../../ui/parts.tsx';
import ui from '../../ui/ui.module.css';
import { ChartKinds, useChartKind } from '../budgets/chart-kind.tsx';
import { RunUpChart } from '../budgets/run-up-chart.tsx';
import type { useSpanLimit } from '../budgets/use-span-limit.ts';

const words = text.agents.agent;

interface AgentChartProps {
  name: string;
  details: Api.AgentDetails;
  limit: ReturnType<typeof useSpanLimit>;
}

/** The spend of an agent over time. Added up, it is drawn with its limit. */
export function AgentChart({ name, details: { window, points }, limit: { kind, of } }: AgentChartProps) {
  const limit = of(window);
  const shown = useChartKind(limit);
  const chart = {
    label: `${words.chart}: ${name}`,
    series: [{ key: 'spend', name: words.chart, colour: colourOf(0) }],
    points: points.map(({ start, total_micros }) => ({ start, micros: [total_micros] })),
  };
  return (
    <Card title={words.chart}>
      <div className={ui['stack']}>
        {kind !== undefined && <ChartKinds shown={shown} />}
        {kind !== undefined && shown === 'cumulative' ? (
          <RunUpChart {...chart} {...{ kind, limit, window }} />
        ) : (
          <SpendBars {...chart} interval={intervalOf(points)} />
        )}
      </div>
    </Card>
  );
}

const MINUTE = 60_000;

/** The details contain no interval, so it is derived from the points. */
function intervalOf(points: readonly Api.SpendPoint[]): Api.SpendSeries['interval'] {
  const [first, second] = points;
  if (first === undefined || second === undefined) return '1h';
  const ms = Date.parse(second.start) - Date.parse(first.start);
  if (ms < MINUTE) return '1s';
  if (ms < 60 * MINUTE) return '1min';
  return ms <= 120 * MINUTE ? '1h' : '1d';
}
