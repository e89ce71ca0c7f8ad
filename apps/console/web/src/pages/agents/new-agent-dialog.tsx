import { useState } from 'react';
import { useChange } from '../../api/api.ts';
import { text } from '../../text/index.ts';
import { TextField } from '../../ui/field.tsx';
import { FormDialog } from '../../ui/form-dialog.tsx';
import { LabelsField, useLabels } from '../../ui/labels.tsx';
import { toast } from '../../ui/toasts.tsx';

const words = text.agents;

export function NewAgentDialog({ onClose }: { onClose: () => void }) {
  const [id, setId] = useState('');
  const [name, setName] = useState('');
  const labels = useLabels();
  const create = useChange('POST /api/v1/agents', ['GET /api/v1/agents']);

  async function send(): Promise<void> {
    const own = labels.read();
    if (own === null) return;
    await create.mutateAsync({ body: { agent_id: id, display_name: name, labels: own } });
    toast(words.created(name));
    onClose();
  }

  return (
    <FormDialog title={words.create} action={words.create} send={send} onClose={onClose}>
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
      <LabelsField state={labels} hint={words.labelsHint} />
    </FormDialog>
  );
}
