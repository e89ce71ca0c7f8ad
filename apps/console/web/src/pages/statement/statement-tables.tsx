import type { ReactNode } from 'react';
import type { Api } from '../../api/api.ts';
import { useWorkspace } from '../../app/account.tsx';
import { keyOf, nameOf } from '../../charts/breakdown.ts';
import { labelOf, wordsOf } from '../../charts/division.ts';
import { money } from '../../format/money.ts';
import { percent } from '../../format/numbers.ts';
import { shortMonth } from '../../format/time.ts';
import { periodWords } from '../../text/budget-sentence.ts';
import { text } from '../../text/index.ts';
import { statement as words } from '../../text/statement.ts';
import type { Column } from '../../ui/cells.tsx';
import { At, Count, Money } from '../../ui/figures.tsx';
import { Card } from '../../ui/parts.tsx';
import { Table } from '../../ui/table.tsx';
import ui from '../../ui/ui.module.css';
import css from './statement.module.css';
import { monthBefore } from './statement-search.ts';

interface PartProps<Row> {
  title: string;
  none: string;
  line?: string | undefined;
  columns: readonly Column<Row>[];
  rows: readonly Row[];
  rowKey: (row: Row) => string;
}

/** A table of the sheet, which print does not divide. */
function Part<Row>({ title, none, line, ...table }: PartProps<Row>) {
  return (
    <div className={css['part']}>
      <Card title={title}>
        {table.rows.length === 0 ? <p className={ui['hint']}>{none}</p> : <Table label={title} {...table} />}
        {line !== undefined && <p className={ui['hint']}>{line}</p>}
      </Card>
    </div>
  );
}

function Name({ children, hint }: { children: ReactNode; hint?: string | undefined }) {
  return (
    <>
      <div className={ui['name']}>{children}</div>
      {hint !== undefined && <div className={ui['hint']}>{hint}</div>}
    </>
  );
}

type SpendRow = Pick<Api.StatementTable['rows'][number], 'total_micros' | 'previous_micros' | 'share_pct'> & {
  id: string;
  name: string;
};

/** Spend by plan, agent or label, beside that of the month before. */
export function SpendTable({ table: { by, rows, others }, month }: { table: Api.StatementTable; month: string }) {
  const { name: head, groups: title } = wordsOf(by);
  const all: SpendRow[] = rows.map((row) => ({ ...row, id: keyOf(row), name: nameOf(row, by) }));
  // Of groups that are counted as one, nobody knows the number.
  if (others !== null) {
    all.push({ ...others, id: ' others', name: others.count > 0 ? words.others(others.count) : words.further });
  }
  const columns: Column<SpendRow>[] = [
    { key: 'name', head, cell: ({ name }) => <Name>{name}</Name> },
    {
      key: 'month',
      head: shortMonth(month),
      align: 'right',
      cell: ({ total_micros }) => <Money micros={total_micros} />,
    },
    {
      key: 'before',
      head: shortMonth(monthBefore(month, 1)),
      align: 'right',
      cell: ({ previous_micros }) => <Money micros={previous_micros} />,
    },
    {
      key: 'share',
      head: words.share,
      align: 'right',
      wide: true,
      cell: ({ share_pct }) => percent(share_pct / 100),
    },
  ];
  return <Part title={title} none={words.none} columns={columns} rows={all} rowKey={({ id }) => id} />;
}

/** The budgets that used most of their limits. */
export function BudgetTable({ statement: { budgets } }: { statement: Api.Statement }) {
  const { timezone } = useWorkspace();
  const { rows, others } = budgets;
  const columns: Column<Api.StatementBudget>[] = [
    {
      key: 'name',
      head: words.budgets.name,
      cell: (row) => <Name hint={aboutBudget(row, timezone)}>{row.budget_name}</Name>,
    },
    {
      key: 'spent',
      head: words.budgets.spent,
      align: 'right',
      cell: ({ spent_micros: spent }) => (spent === null ? text.common.none : <Money micros={spent} />),
    },
    {
      key: 'limit',
      head: words.budgets.limit,
      align: 'right',
      wide: true,
      cell: ({ month_limit_micros: limit }) => (limit === null ? text.common.none : <Money micros={limit} />),
    },
    {
      key: 'used',
      head: words.budgets.used,
      align: 'right',
      cell: ({ used_pct: used }) => (used === null ? text.common.none : percent(used / 100)),
    },
  ];
  const line = others.count > 0 ? `${words.budgets.line}. ${words.budgets.others(others.count)}` : words.budgets.line;
  return (
    <Part
      title={words.budgets.title}
      none={words.budgets.none}
      line={rows.length > 0 ? line : undefined}
      columns={columns}
      rows={rows}
      rowKey={({ budget_id }) => budget_id}
    />
  );
}

/** "$2.00 a day", and whose spend it is or why it is not known. */
function aboutBudget({ limit_micros, period, each, value, values, unknown }: Api.StatementBudget, zone: string) {
  const parts = period === null ? [] : [words.budgets.limitOf(money(limit_micros), periodWords(period, zone))];
  const name = each === null ? null : (labelOf(each) ?? each);
  if (unknown !== undefined) parts.push(words.budgets.unknown[unknown]);
  else if (name !== null && value !== null) parts.push(words.budgets.each(name, value, values ?? 1));
  else if (name !== null) parts.push(words.budgets.nothing(name));
  return parts.join(' · ');
}

interface RaiseRow extends Pick<Api.StatementRaise, 'extra_micros'> {
  id: string;
  name: string;
  by?: string;
  until?: string;
}

/** The largest raises that were granted. */
export function RaiseTable({ raises: { rows, others } }: { raises: Api.Statement['raises'] }) {
  const { timezone } = useWorkspace();
  const all: RaiseRow[] = rows.map((raise) => ({
    id: raise.raise_id,
    name: words.raises.nameOf(raise.budget_name, raise.value),
    by: words.raises.by(raise.asked_by, raise.granted_by),
    extra_micros: raise.extra_micros,
    until: raise.until,
  }));
  if (others.count > 0) all.push({ ...others, id: ' others', name: words.raises.others(others.count) });
  const columns: Column<RaiseRow>[] = [
    { key: 'name', head: words.raises.name, cell: ({ name, by }) => <Name hint={by}>{name}</Name> },
    {
      key: 'amount',
      head: words.raises.amount,
      align: 'right',
      cell: ({ extra_micros }) => <Money micros={extra_micros} />,
    },
    {
      key: 'until',
      head: words.raises.until,
      align: 'right',
      wide: true,
      cell: ({ until }) => until !== undefined && <At at={until} zone={timezone} />,
    },
  ];
  return (
    <Part title={words.raises.title} none={words.raises.none} columns={columns} rows={all} rowKey={({ id }) => id} />
  );
}

interface ReasonRow {
  id: string;
  name: string;
  by?: string;
  calls: number;
}

/** What blocked calls. */
export function BlockedTable({ blocked: { reasons, others } }: { blocked: Api.Statement['blocked'] }) {
  const rows: ReasonRow[] = reasons.map(({ by, name, calls }, index) => ({
    ...{ id: String(index), name, calls, by: words.blocked.byOf[by] },
  }));
  if (others.calls > 0) rows.push({ id: 'others', name: words.blocked.others, calls: others.calls });
  const columns: Column<ReasonRow>[] = [
    { key: 'name', head: words.blocked.name, cell: ({ name }) => <Name>{name}</Name> },
    { key: 'by', head: words.blocked.by, wide: true, cell: ({ by }) => <span className={ui['word']}>{by}</span> },
    { key: 'calls', head: words.blocked.calls, align: 'right', cell: ({ calls }) => <Count value={calls} /> },
  ];
  return (
    <Part title={words.blocked.title} none={words.blocked.none} columns={columns} rows={rows} rowKey={({ id }) => id} />
  );
}
