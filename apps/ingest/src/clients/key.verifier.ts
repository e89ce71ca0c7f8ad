import { fromWireKeyRole, type KeyRole, type KeysServiceDefinition } from '@tollkeeper/contracts';
import type { GrpcClient } from '@tollkeeper/grpc';
import { AppError, type Clock, provenTenantId, type TenantId } from '@tollkeeper/kernel';
import { LRUCache } from 'lru-cache';

/** Whose a key is and what it may do. */
export interface VerifiedKey {
  tenantId: TenantId;
  role: KeyRole;
}

export interface KeyToVerify {
  keyId: string;
  sha256: Buffer;
  /** Id of the request that brings the key, for the logs of the other side. */
  requestId: string;
}

/** Null when the key is unknown, wrong or revoked. Rejects when that can't be found out. */
export type KeyVerifier = (key: KeyToVerify) => Promise<VerifiedKey | null>;

/** How long an answer may be kept (keys.proto), and so how long a revoked key goes on working. */
const KEEP_MS = 5_000;
const MAX_KEPT_KEYS = 10_000;

/**
 * Asks the keys service, and keeps its answers for 5 seconds. Requests with the same key that arrive while it is asked
 * share the answer. Failures are not kept.
 */
export function createKeyVerifier(client: GrpcClient<KeysServiceDefinition>, clock: Clock): KeyVerifier {
  const answers = new LRUCache<string, { key: VerifiedKey | null }, KeyToVerify>({
    max: MAX_KEPT_KEYS,
    ttl: KEEP_MS,
    ttlResolution: 0,
    perf: { now: clock },
    fetchMethod: async (_digest, _stale, { context }) => ({ key: await ask(client, context) }),
  });
  return async (key) => {
    // By the digest of the whole key, so that a wrong secret never meets the answer for the right one.
    const answer = await answers.fetch(key.sha256.toString('base64'), { context: key });
    return answer?.key ?? null;
  };
}

async function ask(client: GrpcClient<KeysServiceDefinition>, key: KeyToVerify): Promise<VerifiedKey | null> {
  const { keyId, sha256, requestId } = key;
  try {
    const { tenantId, role } = await client.verifyKey({ keyId, keySha256: sha256 }, { requestId });
    return { tenantId: provenTenantId(tenantId), role: fromWireKeyRole(role) };
  } catch (error) {
    if (!(error instanceof AppError)) throw error;
    if (error.code === 'not_found') return null;
    if (error.code !== 'upstream_timeout') throw error;
    // Too many requests are as likely a reason as the service: the sender is to slow down all the same.
    const message = 'Workspace keys cannot be checked just now. Try again shortly.';
    throw new AppError('service_unavailable', message, { retryAfterSeconds: 2, cause: error });
  }
}
