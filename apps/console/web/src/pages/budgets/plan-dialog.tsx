import { type FormEvent, useState } from 'react';
import { type Api, useChange } from '../../api/api.ts';
import { useWorkspace } from '../../app/account.tsx';
import { editableMoney, parseMoney } from '../../format/money.ts';
import { text } from '../../text/index.ts';
import { Button } from '../../ui/button.tsx';
import { Problem } from '../../ui/confirm.tsx';
import { Dialog, DialogActions } from '../../ui/dialog.tsx';
import { TextField } from '../../ui/field.tsx';
import { toast } from '../../ui/toasts.tsx';
import ui from '../../ui/ui.module.css';
import { PLAN_READS } from './plan-reads.ts';

const words = text.budgets.plan;

/** Makes a plan, or edits one. */
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
  const working = create.isPending || update.isPending;

  function onSubmit(event: FormEvent): void {
    event.preventDefault();
    setTried(true);
    if (micros === null) return;
    const body = { display_name: name, description, daily_budget_usd_micros: micros };
    const done = {
      onSuccess: () => {
        toast(plan === null ? words.created(name) : words.saved(name));
        onClose();
      },
    };
    if (plan === null) create.mutate({ path: { tenant_id }, body: { plan_key: key, ...body } }, done);
    else update.mutate({ path: { tenant_id, plan_key: plan.plan_key }, body }, done);
  }

  return (
    <Dialog title={plan === null ? words.create : words.edit(plan.display_name)} onClose={onClose}>
      <form className={ui['stack']} onSubmit={onSubmit}>
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
        <Problem error={create.error ?? update.error} />
        <DialogActions>
          <Button onClick={onClose}>{text.common.action.cancel}</Button>
          <Button type="submit" look="primary" busy={working && text.common.action.saving}>
            {text.common.action.save}
          </Button>
        </DialogActions>
      </form>
    </Dialog>
  );
}
