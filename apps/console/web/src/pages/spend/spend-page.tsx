import { useNavigate, useSearch } from '@tanstack/react-router';
import { type Api, useRead } from '../../api/api.ts';
import { useSpan } from '../../app/span.ts';
import { seriesOf } from '../../charts/breakdown.ts';
import { colourOf } from '../../charts/colours.ts';
import { SpendBars } from '../../charts/spend-bars.tsx';
import { dateTime } from '../../format/time.ts';
import { text } from '../../text/index.ts';
import { Count, Money } from '../../ui/figures.tsx';
import { Card, Loaded, PageHead, Segments } from '../../ui/parts.tsx';
import { SpanBar } from '../../ui/span-bar.tsx';
import ui from '../../ui/ui.module.css';
import { Groups } from './groups.tsx';
import { DIVISIONS } from './spend-search.ts';

const words = text.spend;

export function SpendPage() {
  const { zone, query } = useSpan();
  const { by } = useSearch({ from: '/account/w/$slug/spend' });
  const spend = useRead('GET /api/v1/dashboard/spend', { query }, { live: true });
  const span = spend.data?.window;
  const line = span === undefined ? '' : words.line(dateTime(span.start, zone), dateTime(span.end, zone), zone);
  return (
    <div className={ui['stack']}>
      <PageHead title={words.title} line={line}>
        <SpanBar />
      </PageHead>
      <Loaded query={spend} height={88}>
        {({ metrics }) => <Totals metrics={metrics} />}
      </Loaded>
      <Division />
      {by === undefined ? <Whole /> : <Divided by={by} />}
    </div>
  );
}

function Totals({ metrics }: { metrics: Api.SpendMetrics }) {
  return (
    <div className={ui['figures']}>
      <Card title={words.total}>
        <p className={ui['figure']}>
          <Money micros={metrics.total_micros} />
        </p>
      </Card>
      <Card title={words.settlements}>
        <p className={ui['figure']}>
          <Count value={metrics.unique_settlements} />
        </p>
      </Card>
      <Card title={words.each}>
        <p className={ui['figure']}>
          <Money micros={Math.round(metrics.avg_micros_per_settlement)} />
        </p>
      </Card>
      <Card title={words.tokens}>
        <p className={ui['figure']}>
          <Count value={metrics.input_tokens} /> <small>{words.tokensIn}</small> <Count value={metrics.output_tokens} />{' '}
          <small>{words.tokensOut}</small>
        </p>
      </Card>
    </div>
  );
}

function Division() {
  const { by } = useSearch({ from: '/account/w/$slug/spend' });
  const navigate = useNavigate({ from: '/w/$slug/spend' });
  const options = ['whole', ...DIVISIONS] as const;
  return (
    <div>
      <Segments
        label={words.by.label}
        value={by ?? 'whole'}
        options={options.map((each) => [each, words.by[each]] as const)}
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

function Whole() {
  const { query } = useSpan();
  const series = useRead('GET /api/v1/dashboard/spend/series', { query }, { live: true });
  return (
    <Card title={words.chart}>
      <Loaded query={series} height={332}>
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

function Divided({ by }: { by: Api.SpendBreakdown['by'] }) {
  const { query } = useSpan();
  const breakdown = useRead(
    'GET /api/v1/dashboard/spend/breakdown',
    { query: { ...query, by, limit: 5 } },
    { live: true },
  );
  return (
    <>
      <Card title={words.chart}>
        <Loaded query={breakdown} height={332}>
          {(data) => (
            <SpendBars
              label={`${words.chart}: ${words.by[by]}`}
              height={300}
              interval={data.interval}
              series={seriesOf(data)}
              points={data.points}
            />
          )}
        </Loaded>
      </Card>
      <Groups by={by} />
    </>
  );
}
