import { useChange, useRead } from '../../api/api.ts';
import { useWorkspace } from '../../app/account.tsx';
import { money } from '../../format/money.ts';
import { text } from '../../text/index.ts';
import { Card, Loaded, Meter } from '../../ui/parts.tsx';
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
      <Loaded query={budget} height="calc(60px + var(--control))">
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
            <div className={ui['meterBox']}>
              {limit !== undefined && (
                <Meter
                  spent={limit.spent_micros}
                  held={limit.held_micros}
                  budget={limit.daily_budget_usd_micros}
                  label={text.limits.meter(
                    money(limit.spent_micros),
                    money(limit.held_micros),
                    money(limit.daily_budget_usd_micros),
                  )}
                />
              )}
            </div>
          </div>
        )}
      </Loaded>
    </Card>
  );
}
