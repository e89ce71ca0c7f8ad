import { useMutation, useQuery } from '@tanstack/react-query';
import { useLocation } from '@tanstack/react-router';
import { type FormEvent, useState } from 'react';
import { type Api, callApi } from '../../api/api.ts';
import { useAccount } from '../../app/account.tsx';
import { Door } from '../../app/door.tsx';
import { relative } from '../../format/time.ts';
import { device as words } from '../../text/device.ts';
import { Button } from '../../ui/button.tsx';
import { Problem } from '../../ui/confirm.tsx';
import { Facts } from '../../ui/facts.tsx';
import { TextField } from '../../ui/field.tsx';
import { useNow } from '../../ui/now.ts';
import { Skeleton } from '../../ui/parts.tsx';
import ui from '../../ui/ui.module.css';

type Decision = 'confirm' | 'decline';

/** Where a person confirms the login of a program. Its address has the code after the #, which browsers do not send. */
export function DevicePage() {
  const { hash } = useLocation();
  return <DeviceLogin key={hash} linked={hash} />;
}

function DeviceLogin({ linked }: { linked: string }) {
  const [code, setCode] = useState(linked);
  const [decided, setDecided] = useState<Decision>();
  const login = useQuery({
    queryKey: ['device-login', code],
    queryFn: ({ signal }) =>
      callApi(undefined, 'GET /api/v1/auth/device-login', { query: { user_code: code }, signal }),
    enabled: code !== '' && decided === undefined,
    staleTime: Infinity,
  });
  if (decided !== undefined) return <Door title={words[decided].title}>{words[decided].text}</Door>;
  if (login.data !== undefined) return <Decide code={code} login={login.data} onDecided={setDecided} />;
  if (login.isLoading && code === linked) {
    return (
      <Door title={words.title} lead={<Skeleton height={20} />}>
        <Skeleton height={200} />
      </Door>
    );
  }
  const look = (next: string) => (next === code ? void login.refetch() : setCode(next));
  return <AskForCode linked={linked} busy={login.isFetching} error={login.error} onCode={look} />;
}

interface AskProps {
  linked: string;
  busy: boolean;
  error: Error | null;
  onCode: (code: string) => void;
}

function AskForCode({ linked, busy, error, onCode }: AskProps) {
  const [typed, setTyped] = useState(linked);

  function onSubmit(event: FormEvent): void {
    event.preventDefault();
    onCode(typed.trim());
  }

  return (
    <Door title={words.title} lead={words.ask.lead}>
      <form className={ui['form']} onSubmit={onSubmit}>
        <TextField
          label={words.ask.code}
          hint={words.ask.hint}
          autoComplete="off"
          autoCapitalize="characters"
          spellCheck={false}
          required
          autoFocus
          maxLength={64}
          value={typed}
          onChange={({ target }) => setTyped(target.value)}
        />
        <Problem error={error} />
        <Button type="submit" look="primary" busy={busy && words.ask.busy}>
          {words.ask.submit}
        </Button>
      </form>
    </Door>
  );
}

/** `bcdf ghjk` as programs show it. */
function shown(code: string): string {
  const letters = code.toUpperCase().replace(/[^A-Z]/g, '');
  return `${letters.slice(0, 4)}-${letters.slice(4)}`;
}

interface DecideProps {
  code: string;
  login: Api.PendingDeviceLogin;
  onDecided: (decision: Decision) => void;
}

function Decide({ code, login, onDecided }: DecideProps) {
  const { name } = useAccount().user;
  const now = useNow();
  const body = { user_code: code };
  const confirm = useMutation({
    mutationFn: () => callApi(undefined, 'POST /api/v1/auth/device-login:confirm', { body }),
    onSuccess: () => onDecided('confirm'),
  });
  const decline = useMutation({
    mutationFn: () => callApi(undefined, 'POST /api/v1/auth/device-login:decline', { body }),
    onSuccess: () => onDecided('decline'),
  });
  const facts = [
    [words.decide.code, <code key="code">{shown(code)}</code>],
    [words.decide.program, login.user_agent || words.decide.unknown],
    [words.decide.address, login.address || words.decide.unknown],
    [words.decide.asked, relative(login.created_at, now)],
  ] as const;
  return (
    <Door title={words.title} lead={words.decide.lead(name)}>
      <Facts facts={facts} />
      <p>{words.decide.warning}</p>
      <Problem error={confirm.error ?? decline.error} />
      <Button look="primary" busy={confirm.isPending && words.decide.confirming} onClick={() => confirm.mutate()}>
        {words.decide.confirm}
      </Button>
      <Button busy={decline.isPending && words.decide.declining} onClick={() => decline.mutate()}>
        {words.decide.decline}
      </Button>
    </Door>
  );
}
