import { type FormEvent, useState } from 'react';
import { useChange } from '../../api/api.ts';
import { useMay, useTrackedLabels, useWorkspace } from '../../app/account.tsx';
import { PasswordForm } from '../../app/password-form.tsx';
import { isZone } from '../../app/span-search.ts';
import { text } from '../../text/index.ts';
import { scheduledExports as exportWords } from '../../text/scheduled-exports.ts';
import { Button } from '../../ui/button.tsx';
import { Confirm, Problem } from '../../ui/confirm.tsx';
import { TextField } from '../../ui/field.tsx';
import { Card, PageHead } from '../../ui/parts.tsx';
import { toast } from '../../ui/toasts.tsx';
import ui from '../../ui/ui.module.css';
import { Zones } from '../../ui/zones.tsx';
import { ScheduledExports } from './scheduled-exports.tsx';
import { Sessions } from './sessions.tsx';

const words = text.settings;

export function SettingsPage() {
  const mayExport = useMay('owner');
  return (
    <div className={ui['stack']}>
      <PageHead title={words.title} />
      <Card title={words.workspace}>
        <WorkspaceForm />
      </Card>
      {mayExport && (
        <Card title={exportWords.title}>
          <ScheduledExports />
        </Card>
      )}
      <Card title={words.password.title}>
        <PasswordForm onChanged={() => toast(words.password.changed)} />
      </Card>
      <Card title={words.sessions.title}>
        <Sessions />
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
            // Reloads the page, since nothing of this workspace may be requested again.
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
  const before = useTrackedLabels().join(', ');
  const [labels, setLabels] = useState(before);
  const save = useChange('PATCH /api/v1/workspace', ['GET /api/v1/auth/me', 'GET /api/v1/limits']);
  const known = isZone(timezone);

  function onSubmit(event: FormEvent): void {
    event.preventDefault();
    // An identity service of an earlier release does not know this field.
    const tracked = labels === before ? {} : { tracked_labels: namesIn(labels) };
    if (known) save.mutate({ body: { name, timezone, ...tracked } }, { onSuccess: () => toast(words.saved) });
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
      <TextField
        label={words.labels}
        hint={words.labelsHint}
        readOnly={!mayEdit}
        value={labels}
        onChange={({ target }) => setLabels(target.value)}
      />
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

/** The names in a list with commas or spaces. */
function namesIn(list: string): string[] {
  return list.split(/[\s,]+/).filter((name) => name !== '');
}
