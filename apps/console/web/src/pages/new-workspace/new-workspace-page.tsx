import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { type FormEvent, useState } from 'react';
import { callApi } from '../../api/api.ts';
import { accountQuery } from '../../app/account.tsx';
import css from '../../app/shell.module.css';
import { setUpHint } from '../../app/set-up.ts';
import { isZone } from '../../app/span-search.ts';
import { text } from '../../text/index.ts';
import { Button } from '../../ui/button.tsx';
import { Problem } from '../../ui/confirm.tsx';
import { TextField } from '../../ui/field.tsx';
import { Card } from '../../ui/parts.tsx';
import ui from '../../ui/ui.module.css';
import { Zones } from '../../ui/zones.tsx';

const words = text.settings;

export function NewWorkspacePage() {
  const [name, setName] = useState('');
  const [slug, setSlug] = useState('');
  const [timezone, setTimezone] = useState(Intl.DateTimeFormat().resolvedOptions().timeZone);
  const client = useQueryClient();
  const navigate = useNavigate();
  const create = useMutation({
    mutationFn: () => callApi(undefined, 'POST /api/v1/workspaces', { body: { name, slug, timezone } }),
    onSuccess: async (workspace) => {
      setUpHint.set(workspace.id, true);
      await client.refetchQueries(accountQuery);
      await navigate({ to: '/w/$slug', params: { slug: workspace.slug } });
    },
  });
  const known = isZone(timezone);

  function onSubmit(event: FormEvent): void {
    event.preventDefault();
    if (known) create.mutate();
  }

  return (
    <main className={css['door']}>
      <Card>
        <form className={ui['form']} onSubmit={onSubmit}>
          <div>
            <h1>{words.create.title}</h1>
            <p className={ui['hint']}>{words.create.lead}</p>
          </div>
          <TextField
            label={words.create.name}
            required
            maxLength={120}
            autoFocus
            value={name}
            onChange={({ target }) => {
              setName(target.value);
              setSlug(slugOf(target.value));
            }}
          />
          <TextField
            label={words.create.slug}
            hint={words.create.slugHint}
            required
            pattern="[a-z0-9](?:-?[a-z0-9]){1,39}"
            value={slug}
            onChange={({ target }) => setSlug(target.value)}
          />
          <TextField
            label={words.zone}
            hint={words.zoneHint}
            problem={known ? undefined : words.zoneBad}
            required
            list={Zones.id}
            value={timezone}
            onChange={({ target }) => setTimezone(target.value)}
          />
          <Zones />
          <Problem error={create.error} />
          <Button type="submit" look="primary" busy={create.isPending && text.common.action.saving}>
            {words.create.submit}
          </Button>
        </form>
      </Card>
    </main>
  );
}

function slugOf(name: string): string {
  return name
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, '-')
    .replace(/^-|-$/g, '')
    .slice(0, 40);
}
