import { Link, useNavigate, useSearch } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { type Answer, type Api, useRead } from '../../api/api.ts';
import { useTrackedLabels, useWorkspace } from '../../app/account.tsx';
import { type LabelFilter as Filter, labelIn, withLabel, withoutLabels } from '../../app/label-search.ts';
import { useSpan } from '../../app/span.ts';
import { seriesOf } from '../../charts/breakdown.ts';
import { colourOf } from '../../charts/colours.ts';
import { divisionsOf, wordsOf, type Division } from '../../charts/division.ts';
import { SpendBars } from '../../charts/spend-bars.tsx';
import { ChartSpace } from '../../charts/stacked-bars.tsx';
import { dateTime } from '../../format/time.ts';
import { text } from '../../text/index.ts';
import { Count, hasTokens, Money } from '../../ui/figures.tsx';
import { LabelFilter } from '../../ui/label-filter.tsx';
import { Card, Loaded, PageHead, Segments, Unknown } from '../../ui/parts.tsx';
import { ReportedTwice } from '../../ui/reported-twice.tsx';
import { SpanBar } from '../../ui/span-bar.tsx';
import ui from '../../ui/ui.module.css';
import { ExportSpend } from './export-spend.tsx';
import { Groups } from './groups.tsx';
import { UnknownSpend } from './unknown-spend.tsx';

const words = text.spend;

export function SpendPage() {
  const { zone, query } = useSpan();
  const search = useSearch({ from: '/account/w/$slug/spend' });
  const { by } = search;
  const label = labelIn(search);
  const filtered = { ...query, ...(label && { label: withLabel(label) }) };
  const spend = useRead('GET /api/v1/dashboard/spend', { query: filtered }, { live: true });
  const span = spend.data?.window;
  const now = new Date().toISOString();
  const line = words.line(dateTime(span?.start ?? now, zone), dateTime(span?.end ?? now, zone), zone);
  return (
    <div className={ui['stack']}>
      <PageHead title={words.title} line={span === undefined ? <Unknown like={line} /> : line}>
        <SpanBar />
        <StatementLink />
        <ExportSpend label={label} line={line} />
      </PageHead>
      <Totals spend={spend} />
      {label === undefined && <GroupBy />}
      <FilterBy label={label} />
      {by === undefined ? <Whole query={filtered} /> : <Divided by={by} />}
      {label === undefined && <Groups by={by ?? 'agent'} />}
      {label === undefined && spend.data !== undefined && <UnknownSpend {...spend.data} />}
      {label === undefined && <ReportedTwice />}
    </div>
  );
}

function StatementLink() {
  const { slug } = useWorkspace();
  return (
    <Link to="/w/$slug/spend/statement" params={{ slug }} className={ui['button']}>
      {text.common.nav.statement}
    </Link>
  );
}

const FIGURES: readonly (readonly [string, (metrics: Api.SpendMetrics) => ReactNode])[] = [
  [words.total, ({ total_micros }) => <Money micros={total_micros} />],
  [words.settlements, ({ unique_settlements }) => <Count value={unique_settlements} />],
  [words.each, ({ avg_micros_per_settlement: each }) => <Money micros={Math.round(each)} />],
];

function Totals({ spend }: { spend: Answer<Api.Spend> }) {
  return (
    <div className={ui['figures']}>
      {FIGURES.map(([name, figure]) => (
        <Card key={name} title={name}>
          <Loaded query={spend} height={34}>
            {({ metrics }) => <p className={ui['figure']}>{figure(metrics)}</p>}
          </Loaded>
        </Card>
      ))}
      <Card title={words.tokens}>
        <Loaded query={spend} height={34}>
          {({ metrics }) => <TotalTokens input={metrics.input_tokens} output={metrics.output_tokens} />}
        </Loaded>
      </Card>
    </div>
  );
}

function TotalTokens({ input, output }: { input: number; output: number }) {
  if (!hasTokens({ input, output })) return <p className={ui['figure']}>{text.common.none}</p>;
  return (
    <p className={ui['pair']}>
      <span>
        <Count value={input} /> <small>{words.tokensIn}</small>
      </span>
      <span>
        <Count value={output} /> <small>{words.tokensOut}</small>
      </span>
    </p>
  );
}

function GroupBy() {
  const { by } = useSearch({ from: '/account/w/$slug/spend' });
  const navigate = useNavigate({ from: '/w/$slug/spend' });
  const divisions = divisionsOf(useTrackedLabels());
  return (
    <div>
      <Segments
        label={words.by.label}
        value={by ?? 'whole'}
        options={[['whole', words.by.whole], ...divisions.map((each) => [each, wordsOf(each).name] as const)]}
        onChange={(next) =>
          void navigate({
            to: '.',
            search: ({ by: _before, ...rest }) => (next === 'whole' ? rest : { ...rest, by: next }),
            replace: true,
          })
        }
      />
    </div>
  );
}

function FilterBy({ label }: { label: Filter | undefined }) {
  const navigate = useNavigate({ from: '/w/$slug/spend' });
  return (
    <LabelFilter
      label={label}
      set={(next) =>
        void navigate({
          to: '.',
          search: ({ by: _before, ...rest }) => ({
            ...withoutLabels(rest),
            ...(next === undefined ? label && { by: `label:${label.name}` as const } : withLabel(next)),
          }),
        })
      }
    />
  );
}

interface WholeProps {
  query: ReturnType<typeof useSpan>['query'] & { label?: Record<string, string> };
}

function Whole({ query }: WholeProps) {
  const series = useRead('GET /api/v1/dashboard/spend/series', { query }, { live: true });
  return (
    <Card title={words.chart}>
      <Loaded query={series} height={<ChartSpace height={300} />}>
        {({ interval, points }) => (
          <SpendBars
            label={words.chart}
            height={300}
            interval={interval}
            series={[{ key: 'spend', name: words.total, colour: colourOf(0) }]}
            points={points.map(({ start, total_micros }) => ({ start, micros: [total_micros] }))}
          />
        )}
      </Loaded>
    </Card>
  );
}

function Divided({ by }: { by: Division }) {
  const { query } = useSpan();
  const breakdown = useRead(
    'GET /api/v1/dashboard/spend/breakdown',
    { query: { ...query, by, limit: 5 } },
    { live: true },
  );
  return (
    <Card title={words.chart}>
      <Loaded query={breakdown} height={<ChartSpace height={300} named />}>
        {(data) => (
          <SpendBars
            label={`${words.chart}: ${wordsOf(by).name}`}
            height={300}
            interval={data.interval}
            series={seriesOf(data)}
            points={data.points}
          />
        )}
      </Loaded>
    </Card>
  );
}
