import { useState } from 'react';
import { type Api, useChange } from '../../api/api.ts';
import { keys as words } from '../../text/keys.ts';
import { SelectField, TextField } from '../../ui/field.tsx';
import { FormDialog } from '../../ui/form-dialog.tsx';
import { LabelsField, useLabels } from '../../ui/labels.tsx';
import { CreatedKey } from './created-key.tsx';

const ROLES = ['developer', 'read_only', 'admin'] as const;

/** Creates a key, and shows it this once. */
export function NewKeyDialog({ onClose }: { onClose: () => void }) {
  const [name, setName] = useState('');
  const [role, setRole] = useState<Api.WorkspaceKeyRole>('developer');
  const labels = useLabels();
  const create = useChange('POST /api/v1/management/workspace-keys', ['GET /api/v1/management/workspace-keys']);

  if (create.data !== undefined) return <CreatedKey created={create.data} onClose={onClose} />;

  async function send(): Promise<void> {
    const pinned = labels.read();
    if (pinned !== null) await create.mutateAsync({ body: { name, role, labels: pinned } });
  }

  return (
    <FormDialog title={words.create} action={words.create} waits send={send} onClose={onClose}>
      <TextField
        label={words.form.name}
        placeholder={words.form.namePlaceholder}
        required
        maxLength={80}
        value={name}
        onChange={({ target }) => setName(target.value)}
      />
      <SelectField
        label={words.form.role}
        hint={words.roleHints[role]}
        value={role}
        onChange={({ target }) => setRole(ROLES.find((each) => each === target.value) ?? role)}
      >
        {ROLES.map((each) => (
          <option key={each} value={each}>
            {words.roles[each]}
          </option>
        ))}
      </SelectField>
      <LabelsField state={labels} hint={words.labelsHint} />
    </FormDialog>
  );
}
