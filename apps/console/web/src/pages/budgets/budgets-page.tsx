import { useState } from 'react';
import { useMay, useMayRead, useWorkspace } from '../../app/account.tsx';
import { text } from '../../text/index.ts';
import { Button } from '../../ui/button.tsx';
import { PageHead } from '../../ui/parts.tsx';
import ui from '../../ui/ui.module.css';
import { BudgetHistory } from './budget-history.tsx';
import { PlanDialog } from './plan-dialog.tsx';
import { Worksheet } from './worksheet.tsx';

const words = text.budgets;

/** All budgets. Members read them, owners change them and see who did. */
export function BudgetsPage() {
  const { timezone } = useWorkspace();
  const mayEdit = useMay('owner');
  const mayReadHistory = useMayRead('owner');
  const [creating, setCreating] = useState<'budget' | 'plan' | null>(null);
  const close = () => setCreating(null);
  return (
    <div className={ui['stack']}>
      <PageHead title={words.title} line={words.line(timezone)}>
        {mayEdit && (
          <>
            <Button onClick={() => setCreating('plan')}>{words.plan.create}</Button>
            <Button look="primary" onClick={() => setCreating('budget')}>
              {words.create}
            </Button>
          </>
        )}
      </PageHead>
      <Worksheet isCreating={creating === 'budget'} onCreated={close}>
        {mayReadHistory && <BudgetHistory />}
      </Worksheet>
      {creating === 'plan' && <PlanDialog onClose={close} />}
    </div>
  );
}
