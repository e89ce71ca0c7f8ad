import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { useLocation, useNavigate } from '@tanstack/react-router';
import { type FormEvent, type ReactNode, useState } from 'react';
import { type Api, callApi, TollkeeperError } from '../../api/api.ts';
import { sessionHint } from '../../api/session.ts';
import { accountQuery } from '../../app/account.tsx';
import { Door } from '../../app/door.tsx';
import { LoginForm } from '../../app/login-form.tsx';
import { text } from '../../text/index.ts';
import { Button } from '../../ui/button.tsx';
import { Problem } from '../../ui/confirm.tsx';
import { TextField } from '../../ui/field.tsx';
import { Failed, Note, Skeleton } from '../../ui/parts.tsx';
import ui from '../../ui/ui.module.css';

const words = text.invitation;

/** The page of an invitation link. Its token is after the #, which browsers do not send. */
export function InvitationPage() {
  const token = useLocation().hash;
  const offer = useQuery({
    queryKey: ['invitation', token],
    queryFn: ({ signal }) =>
      callApi(undefined, 'GET /api/v1/invitations/{invitation}', { path: { invitation: token }, signal }),
    enabled: token !== '',
    retry: false,
    // A person who has used it stays on the page.
    staleTime: Infinity,
  });
  const account = useQuery({ ...accountQuery, enabled: sessionHint.get(), retry: false });

  if (token === '' || isNotThere(offer.error)) {
    return (
      <Door title={words.asks}>
        <Note title={words.invalid.title}>
          <span>{words.invalid.text}</span>
        </Note>
      </Door>
    );
  }
  if (offer.isError) {
    return (
      <Door title={words.asks}>
        <Failed error={offer.error} retry={() => void offer.refetch()} />
      </Door>
    );
  }
  if (offer.data === undefined || account.isLoading) {
    return (
      <Door title={words.asks}>
        <div role="status" aria-label={text.common.list.loading}>
          <Skeleton height={120} />
        </div>
      </Door>
    );
  }
  return <Offer token={token} offer={offer.data} account={account.isError ? undefined : account.data} />;
}

function isNotThere(error: Error | null): boolean {
  return error instanceof TollkeeperError && error.status === 404;
}

interface OfferProps {
  token: string;
  offer: Api.InvitationOffer;
  /** The account of a logged-in person. */
  account: Api.Account | undefined;
}

function Offer({ token, offer: { workspace, role, invited_by: inviter }, account }: OfferProps) {
  const client = useQueryClient();
  const navigate = useNavigate();
  const [joined, setJoined] = useState<Api.Account>();
  const [known, setKnown] = useState(false);
  const go = () => void navigate({ to: '/w/$slug', params: { slug: workspace.slug } });

  function remember(is: Api.Account): void {
    client.clear();
    client.setQueryData(accountQuery.queryKey, is);
  }

  if (joined !== undefined) {
    return (
      <Door title={words.joined.title} lead={words.joined.text}>
        <p>
          <code className={ui['code']}>{joined.user.login_name}</code>
        </p>
        <Button
          look="primary"
          onClick={() => {
            remember(joined);
            go();
          }}
        >
          {words.joined.go(workspace.name)}
        </Button>
      </Door>
    );
  }

  let way: ReactNode;
  if (account !== undefined) {
    way = (
      <JoinAs
        token={token}
        account={account}
        onJoined={(is) => {
          remember(is);
          go();
        }}
      />
    );
  } else if (known) {
    way = <LoginForm onDone={(is) => client.setQueryData(accountQuery.queryKey, is)} />;
  } else way = <SignUp token={token} onJoined={setJoined} />;
  return (
    <Door title={words.title(workspace.name)} lead={words.line(inviter, text.common.roles[role])}>
      {way}
      {account === undefined && (
        <Button look="quiet" onClick={() => setKnown(!known)}>
          {known ? words.unknown : words.known}
        </Button>
      )}
    </Door>
  );
}

function useAccept(token: string, onJoined: (account: Api.Account) => void) {
  return useMutation({
    mutationFn: (body: { name?: string; password?: string; login_name?: string }) =>
      callApi(undefined, 'POST /api/v1/invitations/{invitation}:accept', { path: { invitation: token }, body }),
    onSuccess: (account) => {
      sessionHint.set();
      onJoined(account);
    },
  });
}

interface JoinProps {
  token: string;
  onJoined: (account: Api.Account) => void;
}

function JoinAs({ token, account: { user }, onJoined }: JoinProps & { account: Api.Account }) {
  const accept = useAccept(token, onJoined);
  const logOut = useMutation({
    mutationFn: () => callApi(undefined, 'POST /api/v1/auth/logout', {}),
    onSuccess: () => {
      sessionHint.clear();
      location.reload();
    },
  });
  return (
    <>
      <p>{words.member(user.name, user.login_name)}</p>
      <Problem error={accept.error ?? logOut.error} />
      <Button look="primary" busy={accept.isPending && words.form.busy} onClick={() => accept.mutate({})}>
        {words.join}
      </Button>
      <Button look="quiet" onClick={() => logOut.mutate()}>
        {words.other}
      </Button>
    </>
  );
}

function SignUp({ token, onJoined }: JoinProps) {
  const [name, setName] = useState('');
  const [loginName, setLoginName] = useState('');
  const [password, setPassword] = useState('');
  const accept = useAccept(token, onJoined);

  function onSubmit(event: FormEvent): void {
    event.preventDefault();
    accept.mutate({ name, password, ...(loginName !== '' && { login_name: loginName }) });
  }

  return (
    <form className={ui['form']} onSubmit={onSubmit}>
      <TextField
        label={words.form.name}
        autoComplete="name"
        required
        autoFocus
        maxLength={120}
        value={name}
        onChange={({ target }) => setName(target.value)}
      />
      <TextField
        label={words.form.loginName}
        hint={words.form.loginNameHint}
        autoComplete="username"
        maxLength={64}
        value={loginName}
        onChange={({ target }) => setLoginName(target.value)}
      />
      <TextField
        label={words.form.password}
        hint={words.form.passwordHint}
        type="password"
        autoComplete="new-password"
        required
        minLength={12}
        maxLength={512}
        value={password}
        onChange={({ target }) => setPassword(target.value)}
      />
      <Problem error={accept.error} />
      <Button type="submit" look="primary" busy={accept.isPending && words.form.busy}>
        {words.form.submit}
      </Button>
    </form>
  );
}
