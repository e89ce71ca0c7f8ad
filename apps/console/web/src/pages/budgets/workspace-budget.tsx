import { useChange } from '../../api/api.ts';
import { useWorkspace } from '../../app/account.tsx';
import { text } from '../../text/index.ts';
import ui from '../../ui/ui.module.css';
import { BudgetCell, withUndo } from './budget-cell.tsx';
import { BUDGET_READS } from './budget-reads.ts';

const words = text.budgets;

/** Offers to set the daily budget of the workspace. Once it is set, it is in the list. */
export function UnsetWorkspaceBudget() {
  const { id, name } = useWorkspace();
  const change = useChange('PUT /api/v1/workspaces/{tenant_id}/budgets/workspace', BUDGET_READS);
  return (
    <div className={ui['row']}>
      <span>{words.workspaceUnset}</span>
      <BudgetCell
        name={name}
        label={words.dailyField(name)}
        micros={null}
        usedMicros={undefined}
        save={withUndo(name, (micros) =>
          change.mutateAsync({ path: { tenant_id: id }, body: { daily_budget_usd_micros: micros } }),
        )}
      />
    </div>
  );
}
