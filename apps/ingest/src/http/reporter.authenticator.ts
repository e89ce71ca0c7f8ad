import type { IncomingHttpHeaders } from 'node:http';
import type { Authenticator } from '@tollkeeper/http';
import type { KeyCheck, VerifiedKey } from '@tollkeeper/workspace-keys';

const BASIC = /^Basic +([A-Za-z0-9+/=_-]{1,512})$/i;

/**
 * Authenticates senders of telemetry by a workspace key, where their settings can have it, in this order:
 * `Authorization: Bearer KEY`, `Authorization: Basic base64(ANY:KEY)`, `X-Api-Key: KEY`.
 */
export function createReporterAuthenticator(check: KeyCheck): Authenticator<VerifiedKey> {
  return {
    scheme: 'workspaceKey',
    authenticate: ({ headers, requestId }) => check({ authorization: authorizationOf(headers), requestId }),
    senderOf: ({ tenantId }) => tenantId,
  };
}

function authorizationOf({ authorization, 'x-api-key': apiKey }: IncomingHttpHeaders): string | undefined {
  if (authorization === undefined) return typeof apiKey === 'string' ? `Bearer ${apiKey}` : undefined;
  const encoded = BASIC.exec(authorization)?.[1];
  if (encoded === undefined) return authorization;
  const credentials = Buffer.from(encoded, 'base64').toString('utf8');
  return `Bearer ${credentials.slice(credentials.indexOf(':') + 1)}`;
}
