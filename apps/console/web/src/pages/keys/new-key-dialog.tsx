import { type FormEvent, useState } from 'react';
import { type Api, useChange } from '../../api/api.ts';
import { text } from '../../text/index.ts';
import { Button } from '../../ui/button.tsx';
import { Problem } from '../../ui/confirm.tsx';
import { Dialog, DialogActions } from '../../ui/dialog.tsx';
import { SelectField, TextField } from '../../ui/field.tsx';
import ui from '../../ui/ui.module.css';
import { CreatedKey } from './created-key.tsx';

const words = text.keys;
const ROLES = ['developer', 'read_only', 'admin'] as const;

/** Makes a key, and shows it this once. */
export function NewKeyDialog({ onClose }: { onClose: () => void }) {
  const [name, setName] = useState('');
  const [role, setRole] = useState<Api.WorkspaceKeyRole>('developer');
  const create = useChange('POST /api/v1/management/workspace-keys', ['GET /api/v1/management/workspace-keys']);

  if (create.data !== undefined) return <CreatedKey created={create.data} onClose={onClose} />;

  function onSubmit(event: FormEvent): void {
    event.preventDefault();
    create.mutate({ body: { name, role } });
  }

  return (
    <Dialog title={words.create} stays={create.isPending} onClose={onClose}>
      <form className={ui['stack']} onSubmit={onSubmit}>
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
