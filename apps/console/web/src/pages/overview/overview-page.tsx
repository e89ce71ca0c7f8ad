import { useRead } from '../../api/api.ts';
import { useSpan } from '../../app/span.ts';
import type { Range } from '../../app/span-search.ts';
import { dates, longDay, relative } from '../../format/time.ts';
import { text } from '../../text/index.ts';
import { useNow } from '../../ui/now.ts';
import { PageHead, Unknown } from '../../ui/parts.tsx';
import { SpanBar } from '../../ui/span-bar.tsx';
import { Attention } from './attention.tsx';
import { FirstRun } from './first-run.tsx';
import { Kpis } from './kpis.tsx';
import css from './overview.module.css';
import { SpendChart } from './spend-chart.tsx';
import { TopAgents } from './top-agents.tsx';

/** The ranges whose days are shown. */
const OF_DAYS: readonly Range[] = ['last_week', 'last_month', 'last_quarter', 'dates'];

/** The first page: where the money goes, what is blocked, and what needs attention. */
export function OverviewPage() {
  const { range, zone, query } = useSpan();
  const overview = useRead('GET /api/v1/dashboard/overview', { query }, { live: true });
  const now = useNow();
  const window = overview.data?.window;
  const isDay = range === 'today' || range === 'yesterday';
  const day = isDay ? `, ${longDay(window?.start ?? now, zone)}` : '';
  const days = OF_DAYS.includes(range) && window !== undefined ? `, ${dates(window, zone)}` : '';
  const seconds = overview.data === undefined ? 1_000 : Math.max(1_000, now - overview.dataUpdatedAt);
  const updated = ` · ${text.common.updated(relative(now - seconds, now))}`;
  const line = (
    <>
      {`${text.common.range[range]}${day}${days}, ${zone}`}
      {overview.data === undefined ? <Unknown like={updated} /> : updated}
    </>
  );
  return (
    <>
      <PageHead title={text.overview.title} line={line}>
        <SpanBar />
      </PageHead>
      <FirstRun>
        <Kpis overview={overview} />
        <div className={css['two']}>
          <SpendChart />
          <Attention overview={overview} />
        </div>
        <TopAgents />
      </FirstRun>
    </>
  );
}
