import { useNavigate, useSearch } from '@tanstack/react-router';
import type { Api } from '../../api/api.ts';
import { text } from '../../text/index.ts';
import { Segments } from '../../ui/parts.tsx';
import ui from '../../ui/ui.module.css';
import { CHART_KINDS, type ChartKind, type ChartSearch } from './chart-search.ts';

const words = text.common.chart;

/** What the chart shows: what the URL says, or else spend that is added up if it has a limit. */
export function useChartKind(limit: Api.Limit | undefined): ChartKind {
  const { chart }: ChartSearch = useSearch({ strict: false });
  return chart ?? (limit === undefined ? 'interval' : 'cumulative');
}

/** Chooses whether the chart adds spend up. */
export function ChartKinds({ shown }: { shown: ChartKind }) {
  const navigate = useNavigate();
  return (
    <Segments
      label={words.kind}
      value={shown}
      options={CHART_KINDS.map((kind) => [kind, words.kinds[kind]] as const)}
      onChange={(chart) =>
        void navigate({
          to: '.',
          search: (before: ChartSearch) => ({ ...before, chart }),
          replace: true,
          resetScroll: false,
        })
      }
    />
  );
}

/** As high as {@link ChartKinds}, while it is not known what the chart shows. */
export function ChartKindsSpace() {
  return (
    <div className={`${ui['stack']} ${ui['unknown']}`}>
      <ChartKinds shown={CHART_KINDS[0]} />
    </div>
  );
}
