import { DELIVERIES_TOPIC, DELIVERIES_TOPIC_OPTIONS, encodeDelivery } from '@tollkeeper/contracts';
import type { EventLog, LogRecord } from '@tollkeeper/event-log';
import { createLoop, type Logger, type Loop } from '@tollkeeper/runtime';
import { type Delivery, toDeliveryRecord } from '../domain/delivery.ts';
import type { DeliveryStore } from '../store/delivery.store.ts';

const MAX_BATCH = 200;

function toRecord(delivery: Delivery): LogRecord {
  const record = encodeDelivery(toDeliveryRecord(delivery));
  return delivery.trace === undefined ? record : { ...record, headers: { ...delivery.trace } };
}

/**
 * Tells alerts of the state of deliveries: what `settle` has marked goes to the log, and the mark goes once the log has
 * it. So every state is told at least once, except one that a newer state has replaced before it could be told.
 */
export function createOutcomePublisher(deps: {
  store: Pick<DeliveryStore, 'unpublished' | 'markPublished'>;
  eventLog: EventLog;
  logger: Logger;
  pollIntervalMs: number;
}): Loop {
  const { store, eventLog, logger, pollIntervalMs: intervalMs } = deps;

  async function publishAll(): Promise<void> {
    for (;;) {
      const deliveries = await store.unpublished(MAX_BATCH);
      if (deliveries.length === 0) return;
      const records = deliveries.map(toRecord);
      await eventLog.append(DELIVERIES_TOPIC, records);
      await store.markPublished(deliveries);
      if (deliveries.length < MAX_BATCH) return;
    }
  }

  const loop = createLoop({
    name: 'outcome-publisher',
    prepare: () => eventLog.ensureTopic(DELIVERIES_TOPIC_OPTIONS),
    work: publishAll,
    intervalMs,
    logger,
  });
  return {
    ...loop,
    async stop() {
      await loop.stop();
      // The attempts that ended last are told of now; should the log be away, at the next start.
      await publishAll().catch((err: unknown) => logger.warn({ err }, 'outcomes are left to be published'));
    },
  };
}
