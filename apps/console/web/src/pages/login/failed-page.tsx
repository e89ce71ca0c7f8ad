import { useQuery } from '@tanstack/react-query';
import { Link, useSearch } from '@tanstack/react-router';
import { type Api, callApi } from '../../api/api.ts';
import { Door } from '../../app/door.tsx';
import { sso } from '../../text/sso.ts';
import { Facts } from '../../ui/facts.tsx';
import { Skeleton } from '../../ui/parts.tsx';
import ui from '../../ui/ui.module.css';

const words = sso.failed;

/** Shows why a log-in by a provider failed. The provider's own words are shown only as text. */
export function FailedPage() {
  const { failure, request } = useSearch({ from: '/login/failed' });
  const { data, isPending } = useQuery({
    queryKey: ['failure', failure],
    // An expired failure looks like one that never existed.
    queryFn: () =>
      callApi(undefined, 'GET /api/v1/auth/oidc/failures/{failure_id}', { path: { failure_id: failure ?? '' } }).catch(
        () => null,
      ),
    enabled: failure !== undefined,
  });
  if (failure !== undefined && isPending) {
    return (
      <Door title={words.title} lead={<Skeleton height={20} />}>
        <Skeleton height={160} />
      </Door>
    );
  }
  return <FailedLogIn failure={data ?? null} request={request} />;
}

function FailedLogIn({ failure, request }: { failure: Api.FailedLogIn | null; request: string | undefined }) {
  const reason = failure === null ? null : words.reasons[failure.code](failure.facts);
  const facts = Object.entries(failure?.facts ?? {}).map(
    ([name, value]) => [words.facts[name] ?? name, value] as const,
  );
  return (
    <Door
      title={reason === null ? words.unknown.title : words.title}
      lead={failure === null ? words.unknown.text : words.by(failure.provider)}
    >
      {reason !== null && (
        <div role="alert">
          <p className={ui['alarm']}>{reason.what}</p>
          <p>{reason.do}</p>
        </div>
      )}
      <Facts facts={[...facts, [words.request, request]]} />
      <Link to="/login" className={ui['button']}>
        {words.again}
      </Link>
    </Door>
  );
}
