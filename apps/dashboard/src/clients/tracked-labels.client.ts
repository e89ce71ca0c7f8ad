import type { IdentityServiceDefinition } from '@tollkeeper/contracts';
import type { GrpcClient } from '@tollkeeper/grpc';
import { AppError, roomFor, type TenantId } from '@tollkeeper/kernel';
import { createSparingWarner, type Logger } from '@tollkeeper/runtime';
import { LRUCache } from 'lru-cache';
import type { TrackedLabels } from '../domain/tracked-labels.ts';

/** How long an answer is used, so changed labels count after this time. */
const FRESH_MS = 5000;
/** How long recording waits for an answer. */
const DEADLINE_MS = 1000;
const CACHED_WORKSPACES = 10_000;

/** Asks identity. While it does not answer, the last known labels are used. `now`: monotonic milliseconds. */
export function createTrackedLabels(
  identity: Pick<GrpcClient<IdentityServiceDefinition>, 'getWorkspace'>,
  logger: Logger,
  now = () => performance.now(),
): TrackedLabels {
  const message = 'identity does not answer; labels are counted as it last said, those of other workspaces not at all';
  const warn = createSparingWarner(logger, now, message);

  // Failures are cached like answers, so that not every batch of events waits while identity is down.
  const known = new LRUCache<TenantId, { names?: readonly string[] }>({
    ...roomFor(CACHED_WORKSPACES),
    ttl: FRESH_MS,
    ttlResolution: 0,
    perf: { now },
    // A question whose workspace is evicted from the cache still gets its answer.
    ignoreFetchAbort: true,
    fetchMethod: async (tenantId, last) => {
      try {
        const { workspace } = await identity.getWorkspace({ tenantId }, { deadlineMs: DEADLINE_MS });
        return { names: workspace?.trackedLabels ?? [] };
      } catch (err) {
        warn({ err, tenant_id: tenantId });
        return last ?? {};
      }
    },
  });

  return {
    async of(tenantId) {
      const { names } = await known.forceFetch(tenantId);
      if (names !== undefined) return names;
      const cannot = 'The tracked labels of the workspace cannot be read right now. Try again shortly.';
      throw new AppError('service_unavailable', cannot, { retryAfterSeconds: 1 });
    },
    async refresh(tenantIds) {
      await Promise.all(Array.from(tenantIds, (tenantId) => known.forceFetch(tenantId)));
    },
    lastKnown: (tenantId) => known.peek(tenantId, { allowStale: true })?.names,
  };
}
