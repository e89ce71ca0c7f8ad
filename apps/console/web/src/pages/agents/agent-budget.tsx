import { useChange, useRead } from '../../api/api.ts';
import { useMay, useWorkspace } from '../../app/account.tsx';
import { text } from '../../text/index.ts';
import { Money } from '../../ui/figures.tsx';
import { LimitMeter } from '../../ui/limit-meter.tsx';
import { Card, Loaded } from '../../ui/parts.tsx';
import ui from '../../ui/ui.module.css';
import { BudgetCell, withUndo } from '../budgets/budget-cell.tsx';
import { BUDGET_READS } from '../budgets/budget-reads.ts';

const words = text.agents.agent;

/** What the agent may still spend today. Owners set its budget here. */
export function AgentBudget({ agentId, name }: { agentId: string; name: string }) {
  const { id: tenant_id } = useWorkspace();
  const mayEdit = useMay('owner');
  const limits = useRead('GET /api/v1/limits', { query: { agent_id: agentId } }, { live: true });
  const change = useChange('PUT /api/v1/workspaces/{tenant_id}/budgets/agents/{agent_id}', BUDGET_READS);
  return (
    <Card title={words.budget}>
      <Loaded query={limits} height={mayEdit ? 'calc(48px + var(--control))' : 72}>
        {({ items }) => {
          const limit = items.find(({ scope, scope_id }) => scope === 'agent' && scope_id === agentId);
          return (
            <div className={ui['stack']}>
              {mayEdit ? (
                <BudgetCell
                  name={name}
                  label={text.budgets.dailyField(name)}
                  micros={limit?.daily_budget_usd_micros ?? null}
                  usedMicros={limit && limit.spent_micros + limit.held_micros}
                  save={withUndo(name, (micros) =>
                    change.mutateAsync({
                      path: { tenant_id, agent_id: agentId },
                      body: { daily_budget_usd_micros: micros },
                    }),
                  )}
                />
              ) : (
                <p className={ui['line']}>
                  {limit === undefined ? words.noBudget : <Money micros={limit.daily_budget_usd_micros} />}
                </p>
              )}
              <LimitMeter limit={limit} />
            </div>
          );
        }}
      </Loaded>
    </Card>
  );
}
