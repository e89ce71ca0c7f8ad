import { useState } from 'react';
import { type Api, useChange } from '../../api/api.ts';
import { useWorkspace } from '../../app/account.tsx';
import { editableMoney, parseMoney } from '../../format/money.ts';
import { text } from '../../text/index.ts';
import { TextField } from '../../ui/field.tsx';
import { FormDialog } from '../../ui/form-dialog.tsx';
import { toast } from '../../ui/toasts.tsx';
import { PLAN_READS } from './plan-reads.ts';

const words = text.budgets.plan;

/** Creates a plan, or edits one. */
export function PlanDialog({ plan, onClose }: { plan: Api.PlanBudget | null; onClose: () => void }) {
  const { id: tenant_id } = useWorkspace();
  const [key, setKey] = useState(plan?.plan_key ?? '');
  const [name, setName] = useState(plan?.display_name ?? '');
  const [description, setDescription] = useState(plan?.description ?? '');
  const [budget, setBudget] = useState(plan === null ? '' : editableMoney(plan.daily_budget_usd_micros));
  const [tried, setTried] = useState(false);
  const create = useChange('POST /api/v1/workspaces/{tenant_id}/budgets/plans', PLAN_READS);
  const update = useChange('PUT /api/v1/workspaces/{tenant_id}/budgets/plans/{plan_key}', PLAN_READS);
  const micros = parseMoney(budget);

  async function send(): Promise<void> {
    setTried(true);
    if (micros === null) return;
    const body = { display_name: name, description, daily_budget_usd_micros: micros };
    if (plan === null) await create.mutateAsync({ path: { tenant_id }, body: { plan_key: key, ...body } });
    else await update.mutateAsync({ path: { tenant_id, plan_key: plan.plan_key }, body });
    toast(plan === null ? words.created(name) : words.saved(name));
    onClose();
  }

  return (
    <FormDialog title={plan === null ? words.create : words.edit(plan.display_name)} send={send} onClose={onClose}>
      {plan === null && (
        <TextField
          label={words.key}
          hint={words.keyHint}
          required
          maxLength={64}
          pattern="[a-z0-9][a-z0-9_\-]*"
          value={key}
          onChange={(event) => setKey(event.target.value)}
        />
      )}
      <TextField
        label={words.name}
        required
        maxLength={120}
        value={name}
        onChange={(event) => setName(event.target.value)}
      />
      <TextField
        label={words.description}
        maxLength={1000}
        value={description}
        onChange={(event) => setDescription(event.target.value)}
      />
      <TextField
        label={words.budget}
        required
        inputMode="decimal"
        value={budget}
        problem={tried && micros === null ? text.common.money.bad : undefined}
        onChange={(event) => setBudget(event.target.value)}
      />
    </FormDialog>
  );
}
