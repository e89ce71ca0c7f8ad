import { queryOptions } from '@tanstack/react-query';
import { callApi } from '../api/api.ts';

/** Whether a link to reset a password can be mailed. It changes only when identity is started anew. */
export const forgotQuery = queryOptions({
  queryKey: [undefined, 'GET /api/v1/auth/forgot', {}],
  queryFn: ({ signal }) => callApi(undefined, 'GET /api/v1/auth/forgot', { signal }),
  staleTime: Infinity,
});
