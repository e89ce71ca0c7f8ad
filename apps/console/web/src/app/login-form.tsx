import { useMutation } from '@tanstack/react-query';
import { type FormEvent, useState } from 'react';
import { type Api, callApi, TollkeeperError } from '../api/api.ts';
import { connection, sessionHint } from '../api/session.ts';
import { timeLeft } from '../format/time.ts';
import { text } from '../text/index.ts';
import { Button } from '../ui/button.tsx';
import { explain } from '../ui/explain.ts';
import { TextField } from '../ui/field.tsx';
import { useNow } from '../ui/now.ts';
import ui from '../ui/ui.module.css';
import css from './shell.module.css';

export interface LoginFormProps {
  /** The login name, if known because a session ended. */
  login?: string;
  onDone: (account: Api.Account) => void;
}

export function LoginForm({ login: known, onDone }: LoginFormProps) {
  const [email, setEmail] = useState(known ?? '');
  const [password, setPassword] = useState('');
  const [wait, setWait] = useState({ ms: 0, until: 0 });
  const now = useNow();
  // The clock of the page may be a second behind.
  const waitMs = Math.min(wait.ms, wait.until - now);
  const login = useMutation({
    mutationFn: () => callApi(undefined, 'POST /api/v1/auth/login', { body: { email, password } }),
    onSuccess: (account) => {
      sessionHint.set();
      connection.sessionBegan();
      onDone(account);
    },
    onError: (error) => {
      if (!isTooMany(error)) return;
      const ms = error.retryAfterMs ?? 1_000;
      setWait({ ms, until: Date.now() + ms });
    },
  });
  function onSubmit(event: FormEvent): void {
    event.preventDefault();
    login.mutate();
  }
  return (
    <form className={css['form']} onSubmit={onSubmit}>
      <TextField
        label={text.login.email}
        name="email"
        autoComplete="username"
        required
        autoFocus={known === undefined}
        readOnly={known !== undefined}
        value={email}
        onChange={(event) => setEmail(event.target.value)}
      />
      <TextField
        label={text.login.password}
        type="password"
        name="password"
        autoComplete="current-password"
        required
        autoFocus={known !== undefined}
        value={password}
        onChange={(event) => setPassword(event.target.value)}
      />
      <div role="alert">
        {waitMs > 0 ? (
          <p className={ui['alarm']}>{text.login.wait(timeLeft(waitMs))}</p>
        ) : (
          login.isError && !isTooMany(login.error) && <p className={ui['alarm']}>{whatFailed(login.error)}</p>
        )}
      </div>
      <Button type="submit" look="primary" busy={login.isPending && text.login.busy} disabled={waitMs > 0}>
        {text.login.submit}
      </Button>
    </form>
  );
}

function isTooMany(error: Error): error is TollkeeperError {
  return error instanceof TollkeeperError && error.status === 429;
}

function whatFailed(error: Error): string {
  return error instanceof TollkeeperError && error.status === 401 ? text.login.wrong : explain(error).message;
}
