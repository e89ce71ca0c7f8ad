import { type FormEvent, useState } from 'react';
import { TollkeeperError, useChange } from '../api/api.ts';
import { text } from '../text/index.ts';
import { Button } from '../ui/button.tsx';
import { Problem } from '../ui/confirm.tsx';
import { TextField } from '../ui/field.tsx';
import ui from '../ui/ui.module.css';

const words = text.settings;

/** Changes the person's own password, which ends their other sessions. */
export function PasswordForm({ onChanged }: { onChanged: () => void }) {
  const [current, setCurrent] = useState('');
  const [next, setNext] = useState('');
  const change = useChange('POST /api/v1/auth/password', ['GET /api/v1/auth/sessions']);
  const wrong = problemOf(change.error, 'current_password') !== undefined;

  const refused = problemOf(change.error, 'new_password');

  function onSubmit(event: FormEvent): void {
    event.preventDefault();
    change.mutate(
      { body: { current_password: current, new_password: next } },
      {
        onSuccess: () => {
          onChanged();
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
        problem={refused}
        type="password"
        autoComplete="new-password"
        required
        minLength={12}
        maxLength={512}
        value={next}
        onChange={({ target }) => setNext(target.value)}
      />
      <Problem error={wrong || refused !== undefined ? null : change.error} />
      <Button type="submit" busy={change.isPending && text.common.action.saving}>
        {words.password.change}
      </Button>
    </form>
  );
}

/** The API's message about a field of a request. */
export function problemOf(error: unknown, field: string): string | undefined {
  if (!(error instanceof TollkeeperError)) return undefined;
  return error.details.find(({ path }) => path === field)?.message;
}
