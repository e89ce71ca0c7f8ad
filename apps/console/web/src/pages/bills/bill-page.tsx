import { Link, useNavigate, useParams, useSearch } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { type Api, useRead } from '../../api/api.ts';
import { useWorkspace } from '../../app/account.tsx';
import { bills as words } from '../../text/bills.ts';
import { Ago, Money } from '../../ui/figures.tsx';
import { Card, Loaded, PageHead, Segments, Skeleton } from '../../ui/parts.tsx';
import ui from '../../ui/ui.module.css';
import { daysOf, Difference, DifferenceShare, nameOf, spanOf } from './bill-parts.tsx';
import { BILL_PARTS } from './bill-search.ts';
import { Differences, Missing } from './bill-tables.tsx';

/** One comparison: totals, differences by day and model, and what only one side has. */
export function BillPage() {
  const { billId } = useParams({ from: '/account/w/$slug/bills/$billId' });
  const { slug } = useWorkspace();
  const bill = useRead('GET /api/v1/reconciliations/{id}', { path: { id: billId } });
  const span = bill.data && spanOf(bill.data);
  const spend = useRead(
    'GET /api/v1/dashboard/spend',
    { query: { from: span?.start, to: span?.end, timezone: 'UTC' } },
    { enabled: span !== undefined },
  );
  return (
    <div className={ui['stack']}>
      <PageHead
        title={bill.data === undefined ? words.title : nameOf(bill.data)}
        line={
          <>
            <Link to="/w/$slug/bills" params={{ slug }}>
              {words.title}
            </Link>
            {bill.data !== undefined && (
              <>
                {' / '}
                {words.of(words.formats[bill.data.format], daysOf(bill.data))}, {words.compared}{' '}
                <Ago at={bill.data.created_at} />
              </>
            )}
          </>
        }
      />
      <Loaded query={bill} height={720}>
        {(data) => (
          <>
            <Totals bill={data} />
            <Causes bill={data}>
              {/* Without it, for example if the days are no longer stored, the comparison is shown anyway. */}
              {spend.isPending ? <Skeleton height={40} /> : spend.data && <Unknown bill={data} spend={spend.data} />}
            </Causes>
            <div className={ui['two']}>
              <Card title={words.notCounted.title}>
                <Missing
                  words={words.notCounted}
                  amount={words.column.billed}
                  rows={data.models
                    .filter(({ counted_micros, charged_micros }) => counted_micros === 0 && charged_micros !== 0)
                    .map(({ model, charged_micros: micros }) => ({ model, micros }))}
                />
              </Card>
              <Card title={words.notBilled.title}>
                <Missing words={words.notBilled} amount={words.column.counted} rows={data.only_counted} />
              </Card>
            </div>
            <Card title={words.differences} link={<By />}>
              <Differences bill={data} />
            </Card>
          </>
        )}
      </Loaded>
    </div>
  );
}

function Totals({ bill }: { bill: Api.Reconciliation }) {
  const figures: readonly (readonly [string, ReactNode])[] = [
    [words.column.billed, <Money key="billed" micros={bill.charged_micros} />],
    [words.column.counted, <Money key="counted" micros={bill.counted_micros} />],
    [words.column.difference, <Difference key="difference" of={bill} />],
    [words.column.share, <DifferenceShare key="share" of={bill} />],
  ];
  return (
    <div className={ui['figures']}>
      {figures.map(([name, figure]) => (
        <Card key={name} title={name}>
          <p className={ui['figure']}>{figure}</p>
        </Card>
      ))}
    </div>
  );
}

/** What usually causes a difference like this one. */
function Causes({ bill: { difference_micros: micros }, children }: { bill: Api.Reconciliation; children: ReactNode }) {
  const cause = micros === 0 ? 'none' : micros > 0 ? 'more' : 'less';
  return (
    <Card>
      <div className={ui['stack']}>
        <p>{words.causes[cause]}</p>
        {children}
      </div>
    </Card>
  );
}

/** The calls of these days whose cost is not known, if there are any, and where to see their models. */
function Unknown({ bill, spend: { unpriced, unmetered } }: { bill: Api.Reconciliation; spend: Api.Spend }) {
  const { slug } = useWorkspace();
  const found = [
    ...(unpriced.calls > 0 ? [words.causes.unpriced(unpriced.calls)] : []),
    ...(unmetered.calls > 0 ? [words.causes.unmetered(unmetered.calls)] : []),
  ];
  if (found.length === 0) return null;
  const search = { range: 'dates', start: bill.from, end: bill.to, zone: 'UTC' } as const;
  return (
    <p>
      {found.join(' ')}{' '}
      <Link to="/w/$slug/spend" params={{ slug }} search={search}>
        {words.causes.showModels}
      </Link>
      {' · '}
      <Link to="/w/$slug/prices" params={{ slug }}>
        {words.causes.setPrices}
      </Link>
    </p>
  );
}

function By() {
  const { by = 'cell' } = useSearch({ from: '/account/w/$slug/bills/$billId' });
  const navigate = useNavigate({ from: '/w/$slug/bills/$billId' });
  return (
    <Segments
      label={words.by.label}
      value={by}
      options={BILL_PARTS.map((part) => [part, words.by[part]] as const)}
      onChange={(next) =>
        void navigate({ to: '.', search: (before) => ({ ...before, by: next }), replace: true, resetScroll: false })
      }
    />
  );
}
