import { MAX_EVENTS_PER_BATCH } from '@tollkeeper/contracts';
import { AppError, type TenantId } from '@tollkeeper/kernel';

/**
 * The quota of each workspace, as a token bucket: an event costs one token. A request is admitted while any token is
 * left. Tokens that it takes beyond zero have to be refilled before the next request. So every batch can pass, and at
 * most one batch exceeds the limit.
 */
export interface EventQuota {
  /** Charges one token, before the body is read. Throws `rate_limited`, without a charge, when no token is left. */
  admit(tenantId: TenantId): void;
  /**
   * Charges the further events of an admitted request, whether it succeeds or not. Throws `rate_limited` when other
   * requests have taken all tokens.
   */
  charge(tenantId: TenantId, events: number): void;
}

export interface EventQuotaDeps {
  eventsPerSecond: number;
  /** Most events that a workspace may send at once after a pause. */
  burstEvents: number;
  /** The buckets. A bucket that was evicted counts as full. */
  buckets: BucketStore;
  /** Monotonic milliseconds. */
  now: () => number;
  /** Called for each refusal. */
  onRefused: (tenantId: TenantId) => void;
}

export interface Bucket {
  /** Tokens left at `at`. A negative number has to be refilled first. */
  left: number;
  /** Monotonic milliseconds. */
  at: number;
}

export interface BucketStore {
  get(tenantId: TenantId): Bucket | undefined;
  set(tenantId: TenantId, bucket: Bucket): unknown;
}

export function createEventQuota(deps: EventQuotaDeps): EventQuota {
  const { eventsPerSecond, burstEvents, buckets, now, onRefused } = deps;

  function take(tenantId: TenantId, events: number, least: number): void {
    const at = now();
    const known = buckets.get(tenantId);
    const left =
      known === undefined
        ? burstEvents
        : Math.min(burstEvents, known.left + ((at - known.at) / 1000) * eventsPerSecond);
    if (left >= least) {
      buckets.set(tenantId, { left: left - events, at });
      return;
    }
    onRefused(tenantId);
    throw new AppError(
      'rate_limited',
      `The workspace may send ${eventsPerSecond} events a second. None of these were taken: send them again later.`,
      { retryAfterSeconds: Math.ceil((1 - left) / eventsPerSecond) },
    );
  }

  return {
    admit: (tenantId) => take(tenantId, 1, 1),
    charge(tenantId, events) {
      // `admit` may have charged the last token.
      if (events > 1) take(tenantId, Math.min(events, MAX_EVENTS_PER_BATCH) - 1, 0);
    },
  };
}
