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
 * Reports the states of deliveries to alerts. `conclude` marks a state. This appends it to the log and removes the mark
 * afterwards. So every state is reported at least once, unless a newer state replaced it first.
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
      // Publishes the results of the last attempts. If the log is down, the next start does it.
      await publishAll().catch((err: unknown) => logger.warn({ err }, 'delivery outcomes are not published yet'));
    },
  };
}
