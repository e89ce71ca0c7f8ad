import type { Authenticator } from '@tollkeeper/http';
import { AppError } from '@tollkeeper/kernel';
import type { KeyCheck, VerifiedKey } from '@tollkeeper/workspace-keys';

const KEY = /^ws_live_/;
const BEARER_KEY = /^bearer +(?=ws_live_)/i;

/**
 * Authenticates proxies over HTTP by `X-Api-Key: ws_live_…`, else by `Authorization: Bearer ws_live_…`. Some proxies
 * pass the credentials of their callers on, which are for the model. If both have a key, one may be the caller's own,
 * and its workspace must not pay for the proxy's.
 */
export function createProxyKeyAuthenticator(check: KeyCheck): Authenticator<VerifiedKey> {
  return {
    scheme: 'workspaceKey',
    authenticate: async ({ headers: { authorization = '', 'x-api-key': apiKey }, requestId }) => {
      if (typeof apiKey !== 'string' || !KEY.test(apiKey)) return check({ authorization, requestId });
      if (BEARER_KEY.test(authorization) && authorization.replace(BEARER_KEY, '') !== apiKey) {
        const message =
          'X-Api-Key and Authorization have different workspace keys. Let the proxy remove the other one.';
        throw new AppError('unauthenticated', message);
      }
      return check({ authorization: `Bearer ${apiKey}`, requestId });
    },
    senderOf: ({ tenantId }) => tenantId,
  };
}
