import { Link, useNavigate, useSearch } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { type Api, useRead } from '../../api/api.ts';
import { useWorkspace } from '../../app/account.tsx';
import { dates, monthOfYear, shortMonth } from '../../format/time.ts';
import { statement as words } from '../../text/statement.ts';
import { Button } from '../../ui/button.tsx';
import { Count, Money } from '../../ui/figures.tsx';
import { useToday } from '../../ui/now.ts';
import { Card, Loaded, PageHead, Unknown } from '../../ui/parts.tsx';
import ui from '../../ui/ui.module.css';
import { BlockedTable, BudgetTable, RaiseTable, SpendTable } from './statement-tables.tsx';
import { monthBefore } from './statement-search.ts';
import css from './statement.module.css';

/** Months to choose from. Sums are kept for longer. */
const MONTHS = 24;

/** What a month cost, beside the month before. It prints on one sheet. */
export function StatementPage() {
  const { name, timezone } = useWorkspace();
  const { month: asked } = useSearch({ from: '/account/w/$slug/spend/statement' });
  const today = useToday(timezone);
  const current = today.slice(0, 'yyyy-mm'.length);
  const month = asked ?? monthBefore(current, 1);
  const read = useRead('GET /api/v1/dashboard/statement', { query: { month } });
  const line = (window: { start: string; end: string }) => words.line(name, dates(window, timezone), timezone);
  return (
    <div className={`${ui['stack']} ${css['sheet']}`}>
      <PageHead
        title={words.title(monthOfYear(month))}
        line={
          read.data === undefined ? (
            <Unknown like={line({ start: `${month}-01`, end: `${month}-28` })} />
          ) : (
            line(read.data.window)
          )
        }
      >
        <MonthChoice month={month} current={current} />
        <SpendLink start={`${month}-01`} end={month === current ? today : lastDayOf(month)} />
        <Button onClick={() => print()}>{words.print}</Button>
      </PageHead>
      <Loaded query={read} height={1_200}>
        {(data) => <Sheet statement={data} />}
      </Loaded>
    </div>
  );
}

function MonthChoice({ month, current }: { month: string; current: string }) {
  const navigate = useNavigate({ from: '/w/$slug/spend/statement' });
  const recent = Array.from({ length: MONTHS }, (_, back) => monthBefore(current, back));
  const months = recent.includes(month) ? recent : [...recent, month];
  return (
    <select
      className={css['month']}
      aria-label={words.month}
      value={month}
      onChange={({ target }) =>
        void navigate({ to: '.', search: (before) => ({ ...before, month: target.value }), replace: true })
      }
    >
      {months.map((each) => (
        <option key={each} value={each}>
          {monthOfYear(each)}
        </option>
      ))}
    </select>
  );
}

function lastDayOf(month: string): string {
  const [year, number] = month.split('-').map(Number) as [number, number];
  return new Date(Date.UTC(year, number, 0)).toISOString().slice(0, 'yyyy-mm-dd'.length);
}

/** The same days on the page of spend, which has the files of them. */
function SpendLink({ start, end }: { start: string; end: string }) {
  const { slug } = useWorkspace();
  const search = { range: 'dates', start, end } as const;
  return (
    <Link to="/w/$slug/spend" params={{ slug }} search={search} className={ui['button']}>
      {words.showSpend}
    </Link>
  );
}

function Sheet({ statement }: { statement: Api.Statement }) {
  const { total, blocked, complete } = statement;
  const before = shortMonth(monthBefore(statement.month, 1));
  const calls = blocked.budget + blocked.guard;
  const notes = [
    complete ? words.complete : words.running,
    ...(total.unpriced.calls > 0 ? [words.unpriced(total.unpriced.calls)] : []),
    ...(total.unmetered.calls > 0 ? [words.unmetered(total.unmetered.calls)] : []),
    words.rounded,
  ];
  const figures: readonly (readonly [string, ReactNode])[] = [
    [words.spend, <Money key="spend" micros={total.total_micros} />],
    [
      complete ? words.before(before) : words.beforeRunning(before),
      <Money key="before" micros={total.previous_micros} />,
    ],
    [words.calls, <Count key="calls" value={total.unique_settlements} />],
    [words.blockedCalls, <Count key="blocked" value={calls} />],
  ];
  return (
    <>
      <p className={ui['hint']}>{notes.join(' ')}</p>
      <div className={`${ui['figures']} ${css['figures']}`}>
        {figures.map(([name, figure]) => (
          <Card key={name} title={name}>
            <p className={ui['figure']}>{figure}</p>
          </Card>
        ))}
      </div>
      <div className={css['tables']}>
        <BudgetTable statement={statement} />
        {statement.tables.map((table) => (
          <SpendTable key={table.by} table={table} month={statement.month} />
        ))}
        <RaiseTable raises={statement.raises} />
        <BlockedTable blocked={blocked} />
      </div>
    </>
  );
}
