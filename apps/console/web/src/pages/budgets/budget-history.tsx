import { type Api, usePages, useRead } from '../../api/api.ts';
import { useAllBudgets } from '../../api/use-all.ts';
import { useWorkspace } from '../../app/account.tsx';
import { text } from '../../text/index.ts';
import type { Column } from '../../ui/cells.tsx';
import { Ago, Money } from '../../ui/figures.tsx';
import { PagedTable } from '../../ui/paged-table.tsx';
import { Card } from '../../ui/parts.tsx';
import ui from '../../ui/ui.module.css';

const words = text.budgets.history;

/** Who changed which budget, newest first. */
export function BudgetHistory() {
  const { id: tenant_id } = useWorkspace();
  const list = usePages('GET /api/v1/workspaces/{tenant_id}/budgets/history', {
    path: { tenant_id },
    query: { limit: 50 },
  });
  const members = useRead('GET /api/v1/members', {});
  const budgets = useAllBudgets();
  const nameOfBudget = (id: string) => budgets.data?.find((each) => each.id === id)?.name ?? id;
  const nameOf = (id: string) => members.data?.items.find(({ user_id }) => user_id === id)?.name ?? id;
  const columns: Column<Api.BudgetChange>[] = [
    { key: 'when', head: words.column.when, cell: ({ changed_at }) => <Ago at={changed_at} /> },
    {
      key: 'of',
      head: words.column.of,
      cell: ({ scope, scope_id }) => (
        <>
          <span className={`${ui['name']} ${ui['word']}`}>{text.limits.scope[scope]}</span>{' '}
          {scope_id !== tenant_id && <span className={ui['id']}>{nameOfBudget(scope_id)}</span>}
        </>
      ),
    },
    {
      key: 'from',
      head: words.column.from,
      align: 'right',
      cell: (row) => <Amount micros={row.previous_daily_budget_usd_micros} />,
    },
    {
      key: 'to',
      head: words.column.to,
      align: 'right',
      cell: (row) => <Amount micros={row.daily_budget_usd_micros} />,
    },
    { key: 'by', head: words.column.by, wide: true, cell: ({ changed_by }) => nameOf(changed_by) },
  ];
  return (
    <Card title={words.title}>
      <PagedTable
        list={list}
        with={[members]}
        height={200}
        none={<p>{words.none}</p>}
        label={words.title}
        columns={columns}
        rowKey={({ changed_at, scope, scope_id }) => `${changed_at} ${scope} ${scope_id}`}
      />
    </Card>
  );
}

function Amount({ micros }: { micros: number | null }) {
  return micros === null ? text.budgets.unset : <Money micros={micros} />;
}
