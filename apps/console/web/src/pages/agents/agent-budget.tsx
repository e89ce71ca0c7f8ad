import { useChange, useRead } from '../../api/api.ts';
import { useMay, useWorkspace } from '../../app/account.tsx';
import { money } from '../../format/money.ts';
import { text } from '../../text/index.ts';
import { Card, Loaded, Meter } from '../../ui/parts.tsx';
import ui from '../../ui/ui.module.css';
import { BudgetCell } from '../budgets/budget-cell.tsx';

const words = text.agents.agent;

/** What is left to the agent today; an owner sets its budget here. */
export function AgentBudget({ agentId, name }: { agentId: string; name: string }) {
  const { id: tenant_id } = useWorkspace();
  const mayEdit = useMay('owner');
  const limits = useRead('GET /api/v1/limits', { query: { agent_id: agentId } }, { live: true });
  const change = useChange('PUT /api/v1/workspaces/{tenant_id}/budgets/agents/{agent_id}', [
    'GET /api/v1/workspaces/{tenant_id}/budgets/agents',
    'GET /api/v1/limits',
    'GET /api/v1/dashboard/top-agents/details',
  ]);
  return (
    <Card title={words.budget}>
      <Loaded query={limits} height={mayEdit ? 'calc(40px + var(--control))' : 24}>
        {({ items }) => {
          const limit = items.find(({ scope, scope_id }) => scope === 'agent' && scope_id === agentId);
          return (
            <div className={ui['stack']}>
              {limit === undefined ? (
                <p className={ui['line']}>{words.noBudget}</p>
              ) : (
                <div>
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
                  <p className={ui['hint']}>{words.left(money(limit.remaining_micros), money(limit.held_micros))}</p>
                </div>
              )}
              {mayEdit && (
                <BudgetCell
                  name={name}
                  micros={limit?.daily_budget_usd_micros ?? null}
                  usedMicros={limit && limit.spent_micros + limit.held_micros}
                  save={(micros) =>
                    change.mutateAsync({
                      path: { tenant_id, agent_id: agentId },
                      body: { daily_budget_usd_micros: micros },
                    })
                  }
                />
              )}
            </div>
          );
        }}
      </Loaded>
    </Card>
  );
}
