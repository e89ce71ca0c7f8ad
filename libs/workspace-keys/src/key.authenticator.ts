import type { Authenticator } from '@tollkeeper/http';
import type { KeyCheck } from './key.check.ts';
import type { VerifiedKey } from './verified-key.ts';

/** Authenticates HTTP requests by `Authorization: Bearer ws_live_…`, before their body is read. */
export function createKeyAuthenticator(check: KeyCheck): Authenticator<VerifiedKey> {
  return {
    scheme: 'workspaceKey',
    authenticate: ({ headers: { authorization }, requestId }) => check({ authorization, requestId }),
    senderOf: ({ tenantId }) => tenantId,
  };
}
