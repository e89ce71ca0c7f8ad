import { useState } from 'react';
import { type Api, useChange, useRead } from '../../api/api.ts';
import { useWorkspace } from '../../app/account.tsx';
import { text } from '../../text/index.ts';
import { Button } from '../../ui/button.tsx';
import type { Column } from '../../ui/cells.tsx';
import { Confirm } from '../../ui/confirm.tsx';
import { Card, Loaded, Note, Tag } from '../../ui/parts.tsx';
import { Table } from '../../ui/table.tsx';
import { toast, toastFailure } from '../../ui/toasts.tsx';
import ui from '../../ui/ui.module.css';
import { BudgetCell } from './budget-cell.tsx';
import { useLedTo } from './budgets-search.ts';
import { limitColumns } from './limit-columns.tsx';
import { PlanDialog } from './plan-dialog.tsx';
import { PLAN_READS } from './plan-reads.ts';
import { useLimitOf } from './use-limits.ts';

const words = text.budgets;

type Plan = Pick<Api.PlanBudget, 'plan_key' | 'display_name'>;

export function PlanBudgets() {
  const { id: tenant_id } = useWorkspace();
  const [open, setOpen] = useState<Api.PlanBudget | 'new' | null>(null);
  const [removing, setRemoving] = useState<Api.PlanBudget | null>(null);
  const list = useRead('GET /api/v1/workspaces/{tenant_id}/budgets/plans', { path: { tenant_id } }, { live: true });
  const { setBudget, setActive } = usePlanChanges();
  const limitOf = useLimitOf('plan');
  const ledTo = useLedTo();

  const columns: Column<Api.PlanBudget>[] = [
    { key: 'plan', head: words.column.plan, cell: (plan) => <PlanName plan={plan} onOpen={() => setOpen(plan)} /> },
    {
      key: 'budget',
      head: words.column.budget,
      cell: ({ plan_key, display_name, daily_budget_usd_micros }) => {
        const limit = limitOf(plan_key);
        return (
          <BudgetCell
            {...ledTo(`plan/${plan_key}`)}
            name={display_name}
            optional={false}
            micros={daily_budget_usd_micros}
            usedMicros={limit && limit.spent_micros + limit.held_micros}
            save={(micros) => setBudget(plan_key, micros ?? daily_budget_usd_micros)}
          />
        );
      },
    },
    ...limitColumns<Api.PlanBudget>(({ plan_key }) => limitOf(plan_key)),
    {
      key: 'action',
      head: <span className="heard">{words.column.action}</span>,
      align: 'right',
      cell: (plan) => (
        <>
          <Button look="quiet" onClick={() => setActive(plan, !plan.is_active)}>
            {plan.is_active ? words.plan.deactivate : words.plan.activate}
          </Button>
          <Button look="quiet" aria-label={words.plan.removeTitle(plan.display_name)} onClick={() => setRemoving(plan)}>
            {text.common.action.remove}
          </Button>
        </>
      ),
    },
  ];
  return (
    <Card title={words.plans} link={<Button onClick={() => setOpen('new')}>{words.plan.create}</Button>}>
      <Loaded query={list} height={160}>
        {({ items }) =>
          items.length === 0 ? (
            <Note title={words.noPlans.title}>{words.noPlans.text}</Note>
          ) : (
            <Table label={words.plans} columns={columns} rows={items} rowKey={({ plan_key }) => plan_key} />
          )
        }
      </Loaded>
      {open !== null && <PlanDialog plan={open === 'new' ? null : open} onClose={() => setOpen(null)} />}
      {removing !== null && <RemovePlan plan={removing} onClose={() => setRemoving(null)} />}
    </Card>
  );
}

function usePlanChanges() {
  const { id: tenant_id } = useWorkspace();
  const update = useChange('PUT /api/v1/workspaces/{tenant_id}/budgets/plans/{plan_key}', PLAN_READS);

  function setActive(plan: Plan, is_active: boolean, withUndo = true): Promise<void> {
    const { plan_key, display_name } = plan;
    // mutateAsync, so that each of two quick changes gets its own answer.
    return update.mutateAsync({ path: { tenant_id, plan_key }, body: { is_active } }).then(
      () =>
        toast(is_active ? words.plan.activated(display_name) : words.plan.deactivated(display_name), {
          ...(withUndo && { undo: () => void setActive(plan, !is_active, false) }),
        }),
      toastFailure,
    );
  }

  function setBudget(plan_key: string, daily_budget_usd_micros: number) {
    return update.mutateAsync({ path: { tenant_id, plan_key }, body: { daily_budget_usd_micros } });
  }

  return { setBudget, setActive };
}

function PlanName({ plan, onOpen }: { plan: Api.PlanBudget; onOpen: () => void }) {
  return (
    <>
      <button
        type="button"
        className={ui['linkButton']}
        aria-label={words.plan.edit(plan.display_name)}
        onClick={onOpen}
      >
        {plan.display_name}
      </button>{' '}
      <span className={ui['id']}>{plan.plan_key}</span> {!plan.is_active && <Tag>{words.plan.inactive}</Tag>}
    </>
  );
}

function RemovePlan({ plan, onClose }: { plan: Plan; onClose: () => void }) {
  const { id: tenant_id } = useWorkspace();
  const { plan_key, display_name } = plan;
  const remove = useChange('DELETE /api/v1/workspaces/{tenant_id}/budgets/plans/{plan_key}', PLAN_READS);
  return (
    <Confirm
      title={words.plan.removeTitle(display_name)}
      action={text.common.action.remove}
      onClose={onClose}
      onConfirm={async () => {
        await remove.mutateAsync({ path: { tenant_id, plan_key } });
        toast(words.plan.removed(display_name));
      }}
    >
      {words.plan.removeText}
    </Confirm>
  );
}
