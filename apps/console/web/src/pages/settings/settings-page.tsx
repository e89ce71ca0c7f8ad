import { type FormEvent, useState } from 'react';
import { TollkeeperError, useChange } from '../../api/api.ts';
import { useMay, useWorkspace } from '../../app/account.tsx';
import { isZone } from '../../app/span.ts';
import { text } from '../../text/index.ts';
import { Button } from '../../ui/button.tsx';
import { Confirm, Problem } from '../../ui/confirm.tsx';
import { TextField } from '../../ui/field.tsx';
import { Card, PageHead } from '../../ui/parts.tsx';
import { toast } from '../../ui/toasts.tsx';
import ui from '../../ui/ui.module.css';
import { Zones } from '../../ui/zones.tsx';

const words = text.settings;

export function SettingsPage() {
  return (
    <div className={ui['stack']}>
      <PageHead title={words.title} />
      <Card title={words.workspace}>
        <WorkspaceForm />
      </Card>
      <Card title={words.password.title}>
        <PasswordForm />
      </Card>
      <Card title={words.leave.title}>
        <Leave />
      </Card>
    </div>
  );
}

function Leave() {
  const [leaving, setLeaving] = useState(false);
  const leave = useChange('DELETE /api/v1/members/me', []);
  return (
    <div className={ui['form']}>
      <p>{words.leave.text}</p>
      <Button onClick={() => setLeaving(true)}>{words.leave.title}</Button>
      {leaving && (
        <Confirm
          title={words.leave.title}
          action={words.leave.action}
          onClose={() => setLeaving(false)}
          onConfirm={async () => {
            await leave.mutateAsync({});
            // A new page, since nothing of this workspace may be asked for again.
            location.assign('/');
          }}
        >
          {words.leave.text}
        </Confirm>
      )}
    </div>
  );
}

function WorkspaceForm() {
  const workspace = useWorkspace();
  const mayEdit = useMay('owner');
  const [name, setName] = useState(workspace.name);
  const [timezone, setTimezone] = useState(workspace.timezone);
  const save = useChange('PATCH /api/v1/workspace', ['GET /api/v1/auth/me', 'GET /api/v1/limits']);
  const known = isZone(timezone);

  function onSubmit(event: FormEvent): void {
    event.preventDefault();
    if (known) save.mutate({ body: { name, timezone } }, { onSuccess: () => toast(words.saved) });
  }

  return (
    <form className={ui['form']} onSubmit={onSubmit}>
      <TextField
        label={words.name}
        required
        maxLength={120}
        readOnly={!mayEdit}
        value={name}
        onChange={({ target }) => setName(target.value)}
      />
      <TextField label={words.slug} hint={words.slugHint} readOnly value={workspace.slug} />
      <TextField
        label={words.zone}
        hint={words.zoneHint}
        problem={known ? undefined : words.zoneBad}
        required
        list={Zones.id}
        readOnly={!mayEdit}
        value={timezone}
        onChange={({ target }) => setTimezone(target.value)}
      />
      <Zones />
      <Problem error={save.error} />
      {mayEdit ? (
        <Button type="submit" look="primary" busy={save.isPending && text.common.action.saving}>
          {text.common.action.save}
        </Button>
      ) : (
        <p className={ui['hint']}>{words.readOnly}</p>
      )}
    </form>
  );
}

function PasswordForm() {
  const [current, setCurrent] = useState('');
  const [next, setNext] = useState('');
  const change = useChange('POST /api/v1/auth/password', []);
  const wrong =
    change.error instanceof TollkeeperError && change.error.details.some(({ path }) => path === 'current_password');

  function onSubmit(event: FormEvent): void {
    event.preventDefault();
    change.mutate(
      { body: { current_password: current, new_password: next } },
      {
        onSuccess: () => {
          toast(words.password.changed);
          setCurrent('');
          setNext('');
        },
      },
    );
  }

  return (
    <form className={ui['form']} onSubmit={onSubmit}>
      <TextField
        label={words.password.current}
        type="password"
        autoComplete="current-password"
        required
        problem={wrong ? words.password.wrong : undefined}
        value={current}
        onChange={({ target }) => setCurrent(target.value)}
      />
      <TextField
        label={words.password.next}
        hint={words.password.hint}
        type="password"
        autoComplete="new-password"
        required
        minLength={12}
        maxLength={512}
        value={next}
        onChange={({ target }) => setNext(target.value)}
      />
      <Problem error={wrong ? null : change.error} />
      <Button type="submit" busy={change.isPending && text.common.action.saving}>
        {words.password.change}
      </Button>
    </form>
  );
}
