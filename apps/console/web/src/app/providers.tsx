import { queryOptions } from '@tanstack/react-query';
import { type Api, callApi } from '../api/api.ts';
import ui from '../ui/ui.module.css';
import css from './shell.module.css';

type Providers = Api.ListLoginProvidersResponse;

/** What one can log in with. It changes only when identity is started anew. */
export const providersQuery = queryOptions<Providers, Error>({
  queryKey: [undefined, 'GET /api/v1/auth/oidc', {}],
  queryFn: ({ signal }) => callApi(undefined, 'GET /api/v1/auth/oidc', { signal }),
  staleTime: Infinity,
});

/** A link for each provider, which leads to it and then back to `returnTo`, a path of ours. */
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
