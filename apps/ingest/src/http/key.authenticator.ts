import { type KeyRole, parseWorkspaceKey } from '@tollkeeper/contracts';
import type { Authenticator } from '@tollkeeper/http';
import { AppError } from '@tollkeeper/kernel';
import type { EventQuota } from '../domain/event.quota.ts';
import type { KeyVerifier, VerifiedKey } from '../domain/verified-key.ts';

const BEARER = /^Bearer +(\S{1,128})$/i;

const MAY_POST_EVENTS: Record<KeyRole, boolean> = { read_only: false, developer: true, admin: true };

/**
 * Authenticates requests by `Authorization: Bearer ws_live_…`. Refuses a key with a wrong shape or checksum without a
 * call to the keys service. Refuses a workspace that has used up its quota before its body is read.
 */
export function createKeyAuthenticator(verify: KeyVerifier, quota: EventQuota): Authenticator<VerifiedKey> {
  return {
    scheme: 'workspaceKey',
    async authenticate({ headers, requestId }) {
      const text = BEARER.exec(headers.authorization ?? '')?.[1];
      if (text === undefined) throw refused('Send a workspace key: Authorization: Bearer ws_live_….');
      const parsed = parseWorkspaceKey(text);
      if (parsed === null) throw refused('This is not a workspace key. Check that all of it was copied.');
      const key = await verify({ ...parsed, requestId });
      if (key === null) throw refused('This workspace key is unknown or revoked. Ask an owner for a new one.');
      if (!MAY_POST_EVENTS[key.role]) {
        throw new AppError('forbidden', `A ${key.role} key may not post events; use a developer or an admin key.`);
      }
      quota.admit(key.tenantId);
      return key;
    },
    senderOf: ({ tenantId }) => tenantId,
  };
}

function refused(message: string): AppError {
  return new AppError('unauthenticated', message);
}
