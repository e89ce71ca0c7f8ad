import { type FormEvent, useState } from 'react';
import { type Api, useChange } from '../../api/api.ts';
import { text } from '../../text/index.ts';
import { Button } from '../../ui/button.tsx';
import { Problem } from '../../ui/confirm.tsx';
import { CopyButton } from '../../ui/copy.tsx';
import { Dialog, DialogActions } from '../../ui/dialog.tsx';
import { SelectField, TextField } from '../../ui/field.tsx';
import { toast } from '../../ui/toasts.tsx';
import ui from '../../ui/ui.module.css';

const words = text.members;
export const ROLES = ['member', 'admin', 'owner'] as const;

/** Adds a member; a new account gets a first password, which is shown this once. */
export function AddMemberDialog({ onClose }: { onClose: () => void }) {
  const [email, setEmail] = useState('');
  const [name, setName] = useState('');
  const [role, setRole] = useState<Api.WorkspaceRole>('member');
  const add = useChange('POST /api/v1/members', ['GET /api/v1/members']);

  if (add.data?.initial_password !== undefined) {
    const { email: added, initial_password: password } = add.data;
    return (
      <Dialog title={words.password.title} stays onClose={onClose}>
        <p>{words.password.text(added)}</p>
        <div>
          <code className={ui['code']}>{password}</code>
          <CopyButton value={password} label={words.password.copy} />
        </div>
        <DialogActions>
          <Button look="primary" onClick={onClose}>
            {text.common.action.close}
          </Button>
        </DialogActions>
      </Dialog>
    );
  }

  function onSubmit(event: FormEvent): void {
    event.preventDefault();
    add.mutate(
      { body: { email, role, ...(name !== '' && { name }) } },
      {
        onSuccess: (member) => {
          toast(words.added(member.email));
          if (member.initial_password === undefined) onClose();
        },
      },
    );
  }

  return (
    <Dialog title={words.add} stays={add.isPending} onClose={onClose}>
      <form className={ui['stack']} onSubmit={onSubmit}>
        <TextField
          label={words.form.email}
          type="email"
          required
          maxLength={254}
          autoComplete="off"
          value={email}
          onChange={({ target }) => setEmail(target.value)}
        />
        <TextField
          label={words.form.name}
          maxLength={120}
          autoComplete="off"
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
        <Problem error={add.error} />
        <DialogActions>
          <Button onClick={onClose}>{text.common.action.cancel}</Button>
          <Button type="submit" look="primary" busy={add.isPending && text.common.action.saving}>
            {words.add}
          </Button>
        </DialogActions>
      </form>
    </Dialog>
  );
}
