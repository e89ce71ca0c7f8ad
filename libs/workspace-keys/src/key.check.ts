import { type KeyRole, parseWorkspaceKey } from '@tollkeeper/contracts';
import { AppError } from '@tollkeeper/kernel';
import type { KeyVerifier, VerifiedKey } from './verified-key.ts';
import type { WorkspaceQuota } from './workspace.quota.ts';

/** The credentials of a caller, over any transport. */
export interface KeyClaim {
  /** The `authorization` header or metadata. */
  authorization: string | undefined;
  requestId: string;
  /** Number of requests in the call: one, unless it is a batch; 0 for a stream, whose requests pay as they come. */
  requests?: number;
}

/** Resolves to the caller's key. Rejects with `unauthenticated`, `forbidden` or `rate_limited`. */
export type KeyCheck = (claim: KeyClaim) => Promise<VerifiedKey>;

export interface KeyCheckDeps {
  verify: KeyVerifier;
  /** What the key must be allowed to do, as worded in refusals: `post events`. */
  action: string;
  quota: Pick<WorkspaceQuota, 'admit'>;
}

const BEARER = /^Bearer +(\S{1,128})$/i;

const MAY_WRITE: Record<KeyRole, boolean> = { read_only: false, developer: true, admin: true };

/**
 * Checks that `Bearer ws_live_…` is a key that may write. Refuses a key with a wrong shape or checksum without a call
 * to the keys service. Refuses a workspace that has used up its quota, but not
 * its streams: they carry releases too, which have no quota.
 */
export function createKeyCheck({ verify, action, quota }: KeyCheckDeps): KeyCheck {
  return async ({ authorization = '', requestId, requests = 1 }) => {
    const text = BEARER.exec(authorization)?.[1];
    if (text === undefined) throw refused('Send a workspace key: Authorization: Bearer ws_live_….');
    const parsed = parseWorkspaceKey(text);
    if (parsed === null) throw refused('This is not a workspace key. Check that you copied the whole key.');
    const key = await verify({ ...parsed, requestId });
    if (key === null) throw refused('This workspace key is unknown or revoked. Ask an owner for a new one.');
    if (!MAY_WRITE[key.role]) {
      throw new AppError('forbidden', `A ${key.role} key may not ${action}; use a developer or an admin key.`);
    }
    if (requests > 0) quota.admit(key.tenantId, requests);
    return key;
  };
}

function refused(message: string): AppError {
  return new AppError('unauthenticated', message);
}
