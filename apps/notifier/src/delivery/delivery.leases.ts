import { randomUUID } from 'node:crypto';
import type { Clock } from '@tollkeeper/kernel';
import type { Logger } from '@tollkeeper/runtime';
import type { Delivery } from '../domain/delivery.ts';
import type { DeliveryStore } from '../store/delivery.store.ts';

/** Milliseconds until other workers take over the deliveries of a killed one. */
const LEASE_MS = 5000;
const HEARTBEAT_MS = LEASE_MS / 4;

/** The leases of this process. A lease gives it exclusive access to a delivery while it works on it. */
export interface Leases {
  readonly owner: string;
  /** Leases the first due delivery of a channel; null if none is available. */
  claim(channelId: string): Promise<Delivery | null>;
  /** Starts to renew leases, and to free those that other processes have left behind. */
  start(): Promise<void>;
  stop(): void;
}

export function createLeases(deps: {
  store: Pick<DeliveryStore, 'claim' | 'renew' | 'freeExpired'>;
  /** Ids of the deliveries in progress. */
  inProgress: () => string[];
  clock: Clock;
  logger: Logger;
}): Leases {
  const { store, inProgress, clock, logger } = deps;
  const owner = randomUUID();
  let heart: NodeJS.Timeout | undefined;

  async function beat(): Promise<void> {
    const ids = inProgress();
    if (ids.length > 0) await store.renew(owner, ids, clock() + LEASE_MS);
    await store.freeExpired(clock(), ids);
  }

  function beatAgain(): void {
    heart = setTimeout(() => {
      beat()
        .catch((err: unknown) => logger.warn({ err }, 'delivery leases could not be renewed'))
        .finally(() => heart && beatAgain());
    }, HEARTBEAT_MS);
  }

  return {
    owner,
    claim: (channelId) => store.claim(channelId, owner, clock(), clock() + LEASE_MS),
    async start() {
      await beat();
      beatAgain();
    },
    stop() {
      clearTimeout(heart);
      heart = undefined;
    },
  };
}
