import { Link } from '@tanstack/react-router';
import { useRead } from '../../api/api.ts';
import { useMay, useWorkspace } from '../../app/account.tsx';
import { text } from '../../text/index.ts';
import { Card, Loaded, Note, PageHead } from '../../ui/parts.tsx';
import ui from '../../ui/ui.module.css';
import { AgentBudgets } from './agent-budgets.tsx';
import { BudgetHistory } from './budget-history.tsx';
import { PlanBudgets } from './plan-budgets.tsx';
import { WorkspaceBudget } from './workspace-budget.tsx';

const words = text.budgets;

/** The daily budgets of the workspace, its agents and its plans. */
export function BudgetsPage() {
  const { slug, timezone } = useWorkspace();
  const mayEdit = useMay('owner');
  return (
    <div className={ui['stack']}>
      <PageHead title={words.title} line={words.line(timezone)} />
      {mayEdit ? (
        <>
          <WorkspaceBudget />
          <Lists />
        </>
      ) : (
        <Card>
          <Note title={text.common.notAllowed.title}>
            <span>{words.needed}</span>
            <Link to="/w/$slug/limits" params={{ slug }}>
              {words.toLimits}
            </Link>
          </Note>
        </Card>
      )}
    </div>
  );
}

/** Drawn together, because a list that loads later would move those below it. */
function Lists() {
  const path = { tenant_id: useWorkspace().id };
  const agents = useRead('GET /api/v1/workspaces/{tenant_id}/budgets/agents', { path }, { live: true });
  const plans = useRead('GET /api/v1/workspaces/{tenant_id}/budgets/plans', { path }, { live: true });
  const limits = useRead('GET /api/v1/limits', { query: {} });
  return (
    <Loaded query={agents} with={[plans, limits]} height={640}>
      {({ items }) => (
        <>
          <AgentBudgets agents={items} />
          <PlanBudgets />
          <BudgetHistory />
        </>
      )}
    </Loaded>
  );
}
