import { MAX_EVENTS_PER_BATCH } from '@tollkeeper/contracts';
import { AppError, type TenantId } from '@tollkeeper/kernel';

/**
 * What each workspace may send, as a token bucket: an event costs one. A request is let in while anything is left, and
 * what it takes beyond that is made up for before the next one: so every batch can pass, and never more than one batch
 * goes over the bound.
 */
export interface EventQuota {
  /**
   * At the door, before the body is read: charges one. Throws `rate_limited`, which costs nothing, when nothing is
   * left.
   */
  admit(tenantId: TenantId): void;
  /**
   * For a request that was let in, whatever comes of it: charges its further events. Throws `rate_limited` when others
   * took all.
   */
  charge(tenantId: TenantId, events: number): void;
}

export interface EventQuotaDeps {
  eventsPerSecond: number;
  /** Events that a workspace which has sent nothing for long may send at once. */
  burstEvents: number;
  /** Where the buckets are kept; one that is forgotten counts as full. */
  buckets: BucketStore;
  /** Monotonic milliseconds. */
  now: () => number;
  /** Told of each refusal. */
  onRefused: (tenantId: TenantId) => void;
}

export interface Bucket {
  /** Events left at `at`; below zero what is to be made up for. */
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
      // The one that `admit` charged may have been the last.
      if (events > 1) take(tenantId, Math.min(events, MAX_EVENTS_PER_BATCH) - 1, 0);
    },
  };
}
