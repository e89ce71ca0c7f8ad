import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useLocation, useNavigate } from '@tanstack/react-router';
import { type FormEvent, useState } from 'react';
import { callApi, TollkeeperError } from '../../api/api.ts';
import { sessionHint } from '../../api/session.ts';
import { Door } from '../../app/door.tsx';
import { problemOf } from '../../app/password-form.tsx';
import { text } from '../../text/index.ts';
import { Button } from '../../ui/button.tsx';
import { Problem } from '../../ui/confirm.tsx';
import { TextField } from '../../ui/field.tsx';
import { Note } from '../../ui/parts.tsx';
import ui from '../../ui/ui.module.css';

const words = text.reset;

/** The page of a link to reset a password. Its token is after the #, which browsers do not send. */
export function ResetPage() {
  const token = useLocation().hash;
  const client = useQueryClient();
  const navigate = useNavigate();
  const [password, setPassword] = useState('');
  const reset = useMutation({
    mutationFn: () => callApi(undefined, 'POST /api/v1/auth/reset', { body: { token, new_password: password } }),
    onSuccess: () => {
      // The session of this browser has ended, too.
      sessionHint.clear();
      client.clear();
    },
  });
  const refused = problemOf(reset.error, 'new_password');

  function onSubmit(event: FormEvent): void {
    event.preventDefault();
    reset.mutate();
  }

  if (reset.data !== undefined) {
    return (
      <Door title={words.done.title} lead={words.done.text}>
        <p>
          <code className={ui['code']}>{reset.data.login_name}</code>
        </p>
        <Button look="primary" onClick={() => void navigate({ to: '/login', replace: true })}>
          {words.done.logIn}
        </Button>
      </Door>
    );
  }
  if (token === '' || (reset.error instanceof TollkeeperError && reset.error.status === 404)) {
    return (
      <Door title={words.title}>
        <Note title={words.invalid.title}>
          <span>{words.invalid.text}</span>
        </Note>
      </Door>
    );
  }
  return (
    <Door title={words.title} lead={words.lead}>
      <form className={ui['form']} onSubmit={onSubmit}>
        <TextField
          label={words.password}
          hint={words.hint}
          problem={refused}
          type="password"
          autoComplete="new-password"
          required
          autoFocus
          minLength={12}
          maxLength={512}
          value={password}
          onChange={({ target }) => setPassword(target.value)}
        />
        <Problem error={refused === undefined ? reset.error : null} />
        <Button type="submit" look="primary" busy={reset.isPending && words.busy}>
          {words.submit}
        </Button>
      </form>
    </Door>
  );
}
