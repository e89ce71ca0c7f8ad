import type { Authenticator } from '@tollkeeper/http';
import type { KeyCheck, VerifiedKey } from '@tollkeeper/workspace-keys';

const KEY_PREFIX = 'ws_live_';

/**
 * Authenticates proxies over HTTP by `X-Api-Key: ws_live_…`, else by `Authorization: Bearer ws_live_…`. Some proxies
 * pass the credentials of their callers on, which are for the model.
 */
export function createProxyKeyAuthenticator(check: KeyCheck): Authenticator<VerifiedKey> {
  return {
    scheme: 'workspaceKey',
    authenticate: ({ headers: { authorization, 'x-api-key': apiKey }, requestId }) => {
      const isOurs = typeof apiKey === 'string' && apiKey.startsWith(KEY_PREFIX);
      return check({ authorization: isOurs ? `Bearer ${apiKey}` : authorization, requestId });
    },
    senderOf: ({ tenantId }) => tenantId,
  };
}
