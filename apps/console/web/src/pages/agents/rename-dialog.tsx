import { type FormEvent, useState } from 'react';
import { useChange } from '../../api/api.ts';
import { text } from '../../text/index.ts';
import { Button } from '../../ui/button.tsx';
import { Problem } from '../../ui/confirm.tsx';
import { Dialog, DialogActions } from '../../ui/dialog.tsx';
import { TextField } from '../../ui/field.tsx';
import { toast } from '../../ui/toasts.tsx';
import ui from '../../ui/ui.module.css';

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
  const path = { agent_id: agentId };

  function onSubmit(event: FormEvent): void {
    event.preventDefault();
    rename.mutate(
      { path, body: { display_name: typed } },
      {
        onSuccess: () => {
          toast(words.agent.renamed(typed), {
            undo: () => rename.mutate({ path, body: { display_name: name } }),
          });
          onClose();
        },
      },
    );
  }

  return (
    <Dialog title={words.agent.renameTitle(name)} onClose={onClose}>
      <form className={ui['stack']} onSubmit={onSubmit}>
        <TextField
          label={words.form.name}
          required
          maxLength={120}
          value={typed}
          onChange={({ target }) => setTyped(target.value)}
        />
        <Problem error={rename.error} />
        <DialogActions>
          <Button onClick={onClose}>{text.common.action.cancel}</Button>
          <Button type="submit" look="primary" busy={rename.isPending && text.common.action.saving}>
            {words.agent.rename}
          </Button>
        </DialogActions>
      </form>
    </Dialog>
  );
}
