import { useState } from 'react';
import { useChange } from '../../api/api.ts';
import { useWorkspace } from '../../app/account.tsx';
import { parseMoney } from '../../format/money.ts';
import { text } from '../../text/index.ts';
import { TextField } from '../../ui/field.tsx';
import { FormDialog } from '../../ui/form-dialog.tsx';
import { toast } from '../../ui/toasts.tsx';
import { BUDGET_READS } from './budget-reads.ts';

const words = text.budgets.plan;

/** Creates a plan, whose daily budget is in the list from then on. */
export function PlanDialog({ onClose }: { onClose: () => void }) {
  const { id: tenant_id } = useWorkspace();
  const [key, setKey] = useState('');
  const [name, setName] = useState('');
  const [description, setDescription] = useState('');
  const [budget, setBudget] = useState('');
  const [tried, setTried] = useState(false);
  const create = useChange('POST /api/v1/workspaces/{tenant_id}/budgets/plans', BUDGET_READS);
  const micros = parseMoney(budget);

  async function send(): Promise<void> {
    setTried(true);
    if (micros === null) return;
    const body = { plan_key: key, display_name: name, description, daily_budget_usd_micros: micros };
    await create.mutateAsync({ path: { tenant_id }, body });
    toast(words.created(name));
    onClose();
  }

  return (
    <FormDialog title={words.create} send={send} onClose={onClose}>
      <TextField
        label={words.key}
        hint={words.keyHint}
        required
        maxLength={64}
        pattern="[a-z0-9][a-z0-9_\-]*"
        value={key}
        onChange={(event) => setKey(event.target.value)}
      />
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
