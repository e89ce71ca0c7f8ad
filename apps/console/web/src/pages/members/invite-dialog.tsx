import { ROLES } from '@tollkeeper/kernel/roles';
import { type FormEvent, useState } from 'react';
import { type Api, useChange } from '../../api/api.ts';
import { text } from '../../text/index.ts';
import { Button } from '../../ui/button.tsx';
import { Problem } from '../../ui/confirm.tsx';
import { CopyButton } from '../../ui/copy.tsx';
import { Dialog, DialogActions } from '../../ui/dialog.tsx';
import { ChoiceField, TextField } from '../../ui/field.tsx';
import ui from '../../ui/ui.module.css';

const words = text.members;

/** Invites a person, and shows the link to share, this once. */
export function InviteDialog({ onClose }: { onClose: () => void }) {
  const [email, setEmail] = useState('');
  const [role, setRole] = useState<Api.WorkspaceRole>('member');
  const invite = useChange('POST /api/v1/invitations', ['GET /api/v1/invitations']);

  if (invite.data !== undefined) {
    const { email: invited, url, mailed } = invite.data;
    return (
      <Dialog title={words.link.title} stays onClose={onClose}>
        <p>{words.link.text(invited)}</p>
        {mailed && <p>{words.link.mailed}</p>}
        <div>
          <code className={ui['code']}>{url}</code>
          <CopyButton value={url} label={words.link.copy} />
        </div>
        <DialogActions>
          <Button look="primary" onClick={onClose}>
            {words.link.done}
          </Button>
        </DialogActions>
      </Dialog>
    );
  }

  function onSubmit(event: FormEvent): void {
    event.preventDefault();
    invite.mutate({ body: { email, role } });
  }

  return (
    <Dialog title={words.invite} stays={invite.isPending} onClose={onClose}>
      <form className={ui['stack']} onSubmit={onSubmit}>
        <TextField
          label={words.form.email}
          hint={words.form.emailHint}
          type="email"
          required
          maxLength={254}
          autoComplete="off"
          value={email}
          onChange={({ target }) => setEmail(target.value)}
        />
        <ChoiceField
          label={words.form.role}
          hint={words.roleHints[role]}
          value={role}
          options={ROLES.map((each) => [each, words.roles[each]] as const)}
          onChange={setRole}
        />
        <Problem error={invite.error} />
        <DialogActions>
          <Button onClick={onClose}>{text.common.action.cancel}</Button>
          <Button type="submit" look="primary" busy={invite.isPending && text.common.action.saving}>
            {words.form.submit}
          </Button>
        </DialogActions>
      </form>
    </Dialog>
  );
}
