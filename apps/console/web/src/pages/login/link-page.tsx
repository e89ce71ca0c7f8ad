import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { Navigate, useNavigate, useSearch } from '@tanstack/react-router';
import type { ApiAnswer } from '@tollkeeper/client';
import { type FormEvent, useState } from 'react';
import { callApi, TollkeeperError } from '../../api/api.ts';
import { connection, sessionHint } from '../../api/session.ts';
import { Door } from '../../app/door.tsx';
import css from '../../app/shell.module.css';
import { sso } from '../../text/sso.ts';
import { Button } from '../../ui/button.tsx';
import { explain } from '../../ui/explain.ts';
import { TextField } from '../../ui/field.tsx';
import { Skeleton } from '../../ui/parts.tsx';
import ui from '../../ui/ui.module.css';

const words = sso.link;

/** A person from a provider proves which account is theirs, or says that they are new. */
export function LinkPage() {
  const { link: linkId = '' } = useSearch({ from: '/login/link' });
  const pending = useQuery({
    queryKey: ['link', linkId],
    queryFn: () => callApi(undefined, 'GET /api/v1/auth/oidc/links/{link_id}', { path: { link_id: linkId } }),
    retry: false,
    staleTime: Infinity,
  });
  if (pending.isError) return <Navigate to="/login/failed" replace />;
  if (pending.data !== undefined) return <LinkForm linkId={linkId} pending={pending.data} />;
  return (
    <Door title={words.title} lead={<Skeleton height={40} />}>
      <Skeleton height={260} />
    </Door>
  );
}

function LinkForm({
  linkId,
  pending,
}: {
  linkId: string;
  pending: ApiAnswer<'GET /api/v1/auth/oidc/links/{link_id}'>;
}) {
  const { provider, email, may_be_new: mayBeNew } = pending;
  const path = { link_id: linkId };
  const client = useQueryClient();
  const navigate = useNavigate();
  const [login, setLogin] = useState(email ?? '');
  const [password, setPassword] = useState('');
  const onSuccess = ({ return_to: returnTo }: { return_to: string }) => {
    sessionHint.set();
    connection.sessionBegan();
    // Everything cached without the session, except the data of this page, which cannot be loaded again.
    client.removeQueries({ predicate: ({ queryKey }) => queryKey[0] !== 'link' });
    void navigate({ href: returnTo, replace: true });
  };
  const prove = useMutation({
    mutationFn: (body: { login: string; password: string }) =>
      callApi(undefined, 'POST /api/v1/auth/oidc/links/{link_id}:prove', { path, body }),
    onSuccess,
  });
  const signUp = useMutation({
    mutationFn: () => callApi(undefined, 'POST /api/v1/auth/oidc/links/{link_id}:signUp', { path }),
    onSuccess,
  });

  const error = prove.error ?? signUp.error;

  function onSubmit(event: FormEvent): void {
    event.preventDefault();
    signUp.reset();
    prove.mutate({ login, password });
  }

  return (
    <Door title={words.title} lead={words.lead(provider, email)}>
      <p>{words.ask}</p>
      <form className={css['form']} onSubmit={onSubmit}>
        <TextField
          label={words.login}
          name="login"
          autoComplete="username"
          required
          value={login}
          onChange={(event) => setLogin(event.target.value)}
        />
        <TextField
          label={words.password}
          type="password"
          name="password"
          autoComplete="current-password"
          required
          autoFocus
          value={password}
          onChange={(event) => setPassword(event.target.value)}
        />
        <div role="alert">{error !== null && <p className={ui['alarm']}>{whatFailed(error)}</p>}</div>
        <Button type="submit" look="primary" busy={prove.isPending && words.busy}>
          {words.submit}
        </Button>
      </form>
      {mayBeNew ? (
        <>
          <p className={ui['hint']}>{words.newText}</p>
          <Button busy={signUp.isPending && words.making} onClick={() => signUp.mutate()}>
            {words.isNew}
          </Button>
        </>
      ) : (
        <p className={ui['hint']}>{words.notNew}</p>
      )}
    </Door>
  );
}

function whatFailed(error: Error): string {
  return error instanceof TollkeeperError && error.status === 401 ? words.wrong : explain(error).message;
}
