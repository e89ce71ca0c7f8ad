import { useRead } from '../../api/api.ts';
import { useMay } from '../../app/account.tsx';
import { useSpan } from '../../app/span.ts';
import { longDay, relative } from '../../format/time.ts';
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

/** The first page: where the money goes, what is blocked, and what needs attention. */
export function OverviewPage() {
  const { range, zone, query } = useSpan();
  const overview = useRead('GET /api/v1/dashboard/overview', { query }, { live: true });
  const now = useNow();
  const readsAlerts = useMay('admin');
  const day =
    range === 'today' || range === 'yesterday' ? `, ${longDay(overview.data?.window.start ?? now, zone)}` : '';
  const seconds = overview.data === undefined ? 1_000 : Math.max(1_000, now - overview.dataUpdatedAt);
  const updated = ` · ${text.common.updated(relative(now - seconds, now))}`;
  const line = (
    <>
      {`${text.common.range[range]}${day}, ${zone}`}
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
          {readsAlerts && <Attention />}
        </div>
        <TopAgents />
      </FirstRun>
    </>
  );
}
