import { Link } from '@tanstack/react-router';
import { useMay, useWorkspace } from '../../app/account.tsx';
import { text } from '../../text/index.ts';
import { Card, Note, PageHead } from '../../ui/parts.tsx';
import ui from '../../ui/ui.module.css';
import { AgentBudgets } from './agent-budgets.tsx';
import { BudgetHistory } from './budget-history.tsx';
import { PlanBudgets } from './plan-budgets.tsx';
import { WorkspaceBudget } from './workspace-budget.tsx';

const words = text.budgets;

/** Who may spend how much a day. */
export function BudgetsPage() {
  const { slug, timezone } = useWorkspace();
  const mayEdit = useMay('owner');
  return (
    <div className={ui['stack']}>
      <PageHead title={words.title} line={words.line(timezone)} />
      {mayEdit ? (
        <>
          <WorkspaceBudget />
          <AgentBudgets />
          <PlanBudgets />
          <BudgetHistory />
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
