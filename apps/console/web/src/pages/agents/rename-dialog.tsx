import { useState } from 'react';
import { useChange } from '../../api/api.ts';
import { text } from '../../text/index.ts';
import { TextField } from '../../ui/field.tsx';
import { FormDialog } from '../../ui/form-dialog.tsx';
import { toast, toastFailure } from '../../ui/toasts.tsx';

const words = text.agents;

export function RenameDialog({ agentId, name, onClose }: { agentId: string; name: string; onClose: () => void }) {
  const [typed, setTyped] = useState(name);
  const rename = useChange('PATCH /api/v1/agents/{agent_id}', [
    'GET /api/v1/agents',
    'GET /api/v1/dashboard/top-agents',
    'GET /api/v1/dashboard/top-agents/details',
    'GET /api/v1/dashboard/spend/breakdown',
    'GET /api/v1/workspaces/{tenant_id}/budgets/agents',
  ]);
  const call = (display_name: string) => rename.mutateAsync({ path: { agent_id: agentId }, body: { display_name } });

  async function send(): Promise<void> {
    await call(typed);
    toast(words.agent.renamed(typed), { undo: () => void call(name).catch(toastFailure) });
    onClose();
  }

  return (
    <FormDialog title={words.agent.renameTitle(name)} action={words.agent.rename} send={send} onClose={onClose}>
      <TextField
        label={words.form.name}
        required
        maxLength={120}
        value={typed}
        onChange={({ target }) => setTyped(target.value)}
      />
    </FormDialog>
  );
}
