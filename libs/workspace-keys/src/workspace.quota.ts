import { AppError, roomFor, type TenantId } from '@tollkeeper/kernel';
import type { Logger } from '@tollkeeper/runtime';
import { LRUCache } from 'lru-cache';

/**
 * The quota of each workspace, as a token bucket: a token is a request, an event or a byte, as the service charges. A
 * request is admitted while any token is left. Tokens beyond zero must be refilled before the next request. So every
 * request can pass, and at most one exceeds the limit.
 */
export interface WorkspaceQuota {
  /**
   * Charges one token for each of the requests in a call, before they are read; none for 0. Throws `rate_limited`,
   * without a charge, if no token is left.
   */
  admit(tenantId: TenantId, requests?: number): void;
  /**
   * Charges an admitted request for `more` tokens. Throws `rate_limited`, without a charge, if other requests have
   * taken all tokens.
   */
  charge(tenantId: TenantId, more: number): void;
  /** Charges a request that is accepted for `more` tokens, whatever is left: the next request waits for them. */
  owe(tenantId: TenantId, more: number): void;
}

export interface WorkspaceQuotaDeps {
  /** Tokens refilled per second. */
  perSecond: number;
  /** Most tokens that a workspace may take at once after a pause. */
  burst: number;
  /** The first sentence of a refusal; the seconds to wait follow: `The workspace may …. Try again in 3 s.` */
  refusal: string;
  /** The log message about a workspace over its quota. */
  warning: string;
  /** Counts the refusals. */
  refused: { inc(): void };
  logger: Logger;
  /** Monotonic milliseconds. */
  now: () => number;
}

interface Bucket {
  /** Tokens left at `at`. A negative number must be refilled first. */
  left: number;
  /** Monotonic milliseconds. */
  at: number;
}

/** Most workspaces whose quota is remembered. The one idle for longest is forgotten first, and gets a full bucket. */
const MAX_BUCKETS = 10_000;
/** Least milliseconds between two log lines about the same workspace over its quota. */
const WARN_EVERY_MS = 60_000;

export function createWorkspaceQuota(deps: WorkspaceQuotaDeps): WorkspaceQuota {
  const { perSecond, burst, refusal, warning, refused, logger, now } = deps;
  const buckets = new LRUCache<TenantId, Bucket>(roomFor(MAX_BUCKETS));
  const warned = new LRUCache<TenantId, true>({
    ...roomFor(MAX_BUCKETS),
    ttl: WARN_EVERY_MS,
    ttlResolution: 0,
    perf: { now },
  });

  function take(tenantId: TenantId, tokens: number, least: number): void {
    const at = now();
    const known = buckets.get(tenantId);
    const left = known === undefined ? burst : Math.min(burst, known.left + ((at - known.at) / 1000) * perSecond);
    if (left >= least) {
      buckets.set(tenantId, { left: left - tokens, at });
      return;
    }
    warn(tenantId);
    const retryAfterSeconds = Math.ceil((1 - left) / perSecond);
    throw new AppError('rate_limited', `${refusal} Try again in ${retryAfterSeconds} s.`, { retryAfterSeconds });
  }

  function warn(tenantId: TenantId): void {
    refused.inc();
    if (warned.has(tenantId)) return;
    warned.set(tenantId, true);
    logger.warn({ tenant_id: tenantId }, warning);
  }

  return {
    admit: (tenantId, requests = 1) => take(tenantId, requests, 1),
    charge(tenantId, more) {
      // `admit` may have charged the last token.
      if (more > 0) take(tenantId, more, 0);
    },
    owe: (tenantId, more) => take(tenantId, more, -Infinity),
  };
}
