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

export function NewAgentDialog({ onClose }: { onClose: () => void }) {
  const [id, setId] = useState('');
  const [name, setName] = useState('');
  const create = useChange('POST /api/v1/agents', ['GET /api/v1/agents']);

  function onSubmit(event: FormEvent): void {
    event.preventDefault();
    create.mutate(
      { body: { agent_id: id, display_name: name } },
      {
        onSuccess: () => {
          toast(words.created(name));
          onClose();
        },
      },
    );
  }

  return (
    <Dialog title={words.create} onClose={onClose}>
      <form className={ui['stack']} onSubmit={onSubmit}>
        <TextField
          label={words.form.id}
          hint={words.form.idHint}
          required
          maxLength={128}
          pattern="[A-Za-z0-9._:\-]+"
          value={id}
          onChange={({ target }) => setId(target.value)}
        />
        <TextField
          label={words.form.name}
          required
          maxLength={120}
          value={name}
          onChange={({ target }) => setName(target.value)}
        />
        <Problem error={create.error} />
        <DialogActions>
          <Button onClick={onClose}>{text.common.action.cancel}</Button>
          <Button type="submit" look="primary" busy={create.isPending && text.common.action.saving}>
            {words.create}
          </Button>
        </DialogActions>
      </form>
    </Dialog>
  );
}
