import { queryOptions } from '@tanstack/react-query';
import { type Api, callApi } from '../api/api.ts';
import ui from '../ui/ui.module.css';
import css from './shell.module.css';

type Providers = Api.ListLoginProvidersResponse;

/** The ways to log in. They change only when identity restarts. */
export const providersQuery = queryOptions<Providers, Error>({
  queryKey: [undefined, 'GET /api/v1/auth/oidc', {}],
  queryFn: ({ signal }) => callApi(undefined, 'GET /api/v1/auth/oidc', { signal }),
  staleTime: Infinity,
});

/** A link for each provider. It leads to the provider and then back to `returnTo`, one of our paths. */
export function ProviderLinks({ providers, returnTo }: { providers: Providers['items']; returnTo: string }) {
  return (
    <div className={css['providers']}>
      {providers.map(({ id, button_text: name }) => (
        <a
          key={id}
          className={ui['button']}
          href={`/api/v1/auth/oidc/${id}/start?${new URLSearchParams({ return_to: returnTo }).toString()}`}
        >
          {name}
        </a>
      ))}
    </div>
  );
}
