import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { useLocation } from '@tanstack/react-router';
import { type Api, callApi, TollkeeperError } from '../../api/api.ts';
import { Door } from '../../app/door.tsx';
import { alertMail as words } from '../../text/alert-mail.ts';
import { text } from '../../text/index.ts';
import { Button } from '../../ui/button.tsx';
import { Problem } from '../../ui/confirm.tsx';
import { Failed, Note, Skeleton } from '../../ui/parts.tsx';
import ui from '../../ui/ui.module.css';

/**
 * The page of the link in a mail that asks to confirm an address, or in an alert mail. Nobody has to log in, and
 * nothing changes before a button is pressed: mail scanners open links. The token is after the #, which browsers do not
 * send.
 */
export function AlertMailPage() {
  const token = useLocation().hash;
  const link = useQuery({
    queryKey: keyOf(token),
    queryFn: ({ signal }) => callApi(undefined, 'GET /api/v1/alert-mails/{token}', { path: { token }, signal }),
    enabled: token !== '',
    retry: false,
    // A reader who has used it stays on the page.
    staleTime: Infinity,
  });

  if (token === '' || (link.error instanceof TollkeeperError && link.error.status === 404)) {
    return (
      <Door title={words.title}>
        <Note title={words.invalid.title}>
          <span>{words.invalid.text}</span>
        </Note>
      </Door>
    );
  }
  if (link.isError) {
    return (
      <Door title={words.title}>
        <Failed error={link.error} retry={() => void link.refetch()} />
      </Door>
    );
  }
  if (link.data === undefined) {
    return (
      <Door title={words.title}>
        <div role="status" aria-label={text.common.list.loading}>
          <Skeleton height={120} />
        </div>
      </Door>
    );
  }
  return <Answer token={token} link={link.data} />;
}

function keyOf(token: string) {
  return ['alert-mail', token];
}

type Verb = 'confirm' | 'stop';

/** What the reader can do about each answer, by the purpose of the link. The link that asks works once. */
const ACTIONS: Record<Api.AlertMailLink['purpose'], Record<Api.AlertMailLink['answer'], [Verb, string][]>> = {
  confirm: {
    none: [
      ['confirm', words.action.confirm],
      ['stop', words.action.decline],
    ],
    confirmed: [],
    stopped: [],
  },
  stop: {
    none: [['confirm', words.action.resume]],
    confirmed: [['stop', words.action.stop]],
    stopped: [['confirm', words.action.resume]],
  },
};

function Answer({ token, link }: { token: string; link: Api.AlertMailLink }) {
  const client = useQueryClient();
  const answer = useMutation({
    mutationFn: (verb: Verb) => {
      const request = { path: { token } };
      return verb === 'confirm'
        ? callApi(undefined, 'POST /api/v1/alert-mails/{token}:confirm', request)
        : callApi(undefined, 'POST /api/v1/alert-mails/{token}:stop', request);
    },
    onSuccess: (answered) => client.setQueryData(keyOf(token), answered),
  });
  return (
    <Door title={words.title} lead={<span className={ui['id']}>{link.address}</span>}>
      <p role="status">{stateOf(link, answer.isSuccess)}</p>
      <Problem error={answer.error} />
      {ACTIONS[link.purpose][link.answer].map(([verb, name], index) => (
        <Button
          key={verb}
          look={index === 0 ? 'primary' : 'quiet'}
          disabled={answer.isPending}
          onClick={() => answer.mutate(verb)}
        >
          {name}
        </Button>
      ))}
      {link.answer === 'confirmed' && link.purpose === 'confirm' && <p className={ui['hint']}>{words.howToStop}</p>}
    </Door>
  );
}

function stateOf({ answer, workspace: slug, channel_name: channel }: Api.AlertMailLink, isAnswered: boolean): string {
  const workspace = slug === null ? words.aWorkspace : words.workspace(slug);
  switch (answer) {
    case 'none':
      return words.asks(workspace);
    case 'confirmed':
      return isAnswered ? words.confirmed(workspace) : words.gets(workspace, channel);
    case 'stopped':
      return words.stopped;
  }
}
