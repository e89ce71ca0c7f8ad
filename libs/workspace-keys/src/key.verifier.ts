import { fromWireKeyRole, fromWireReportMapping, type KeysServiceDefinition } from '@tollkeeper/contracts';
import type { GrpcClient } from '@tollkeeper/grpc';
import { AppError, provenTenantId, roomFor } from '@tollkeeper/kernel';
import { LRUCache } from 'lru-cache';
import type { KeyToVerify, KeyVerifier, VerifiedKey } from './verified-key.ts';

/** How long an answer may be cached (keys.proto), and so how much longer a revoked key may work. */
const KEEP_MS = 5_000;
const MAX_KEPT_KEYS = 10_000;

/**
 * Asks the keys service, and caches each answer for 5 seconds from the request on. Concurrent requests with the same
 * key share the answer. Failures are not cached. `now` is a monotonic clock in milliseconds.
 */
export function createKeyVerifier(client: GrpcClient<KeysServiceDefinition>, now: () => number): KeyVerifier {
  const answers = new LRUCache<string, Promise<VerifiedKey | null>>({
    ...roomFor(MAX_KEPT_KEYS),
    ttl: KEEP_MS,
    ttlResolution: 0,
    perf: { now },
  });
  return (key) => {
    // The cache key is the digest of the whole key, so that a wrong secret never gets the answer for the right one.
    const digest = key.sha256.toString('base64');
    const known = answers.get(digest);
    if (known !== undefined) return known;
    const asked = ask(client, key);
    answers.set(digest, asked);
    asked.catch(() => answers.delete(digest));
    return asked;
  };
}

async function ask(client: GrpcClient<KeysServiceDefinition>, key: KeyToVerify): Promise<VerifiedKey | null> {
  const { keyId, sha256, requestId } = key;
  try {
    const answer = await client.verifyKey({ keyId, keySha256: sha256 }, { requestId });
    const { tenantId, role, labels, watched } = answer;
    const reports = fromWireReportMapping(answer.reports);
    return { keyId, tenantId: provenTenantId(tenantId), role: fromWireKeyRole(role), labels, watched, reports };
  } catch (error) {
    if (!(error instanceof AppError)) throw error;
    if (error.code === 'not_found') return null;
    if (error.code !== 'upstream_timeout') throw error;
    // The cause may be either too many requests or the service. In both cases, the sender has to slow down.
    const message = 'Workspace keys cannot be checked right now. Try again shortly.';
    throw new AppError('service_unavailable', message, { retryAfterSeconds: 2, cause: error });
  }
}
