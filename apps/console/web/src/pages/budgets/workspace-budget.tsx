import { useChange, useRead } from '../../api/api.ts';
import { useWorkspace } from '../../app/account.tsx';
import { text } from '../../text/index.ts';
import { LimitMeter } from '../../ui/limit-meter.tsx';
import { Card, Loaded } from '../../ui/parts.tsx';
import ui from '../../ui/ui.module.css';
import { BudgetCell } from './budget-cell.tsx';
import { useLedTo } from './budgets-search.ts';
import { useLimitOf } from './use-limits.ts';

const words = text.budgets;

export function WorkspaceBudget() {
  const { id, name } = useWorkspace();
  const path = { tenant_id: id };
  const budget = useRead('GET /api/v1/workspaces/{tenant_id}/budgets/workspace', { path }, { live: true });
  const change = useChange('PUT /api/v1/workspaces/{tenant_id}/budgets/workspace', [
    'GET /api/v1/workspaces/{tenant_id}/budgets/workspace',
    'GET /api/v1/limits',
    'GET /api/v1/dashboard/overview',
  ]);
  const limit = useLimitOf('workspace')(id);
  const ledTo = useLedTo();
  return (
    <Card title={words.workspace}>
      <Loaded query={budget} height="calc(84px + var(--control))">
        {({ daily_budget_usd_micros }) => (
          <div className={ui['stack']}>
            <p>{words.workspaceText}</p>
            <BudgetCell
              {...ledTo(`workspace/${id}`)}
              name={name}
              micros={daily_budget_usd_micros}
              usedMicros={limit && limit.spent_micros + limit.held_micros}
              save={(micros) => change.mutateAsync({ path, body: { daily_budget_usd_micros: micros } })}
            />
            <LimitMeter limit={limit} />
          </div>
        )}
      </Loaded>
    </Card>
  );
}
