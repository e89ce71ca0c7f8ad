import { setTimeout as delay } from 'node:timers/promises';
import { createOffsetStore, type OffsetStore } from '@tollkeeper/mongo';
import type { Logger, Metrics } from '@tollkeeper/runtime';
import type { Connection } from 'mongoose';
import { createDeadLetters, type DeadLetters } from './dead-letters.ts';
import { createDeferredRecords } from './deferred.records.ts';
import { createDeferredStore } from './deferred.store.ts';
import type { EventLog, LogConsumer, TopicOptions } from './event-log.ts';
import { createRecordApplier, type RecordEffects } from './record.applier.ts';
import { createTransactionalHandler } from './transactional.handler.ts';

/** The consumer group of a service's replicas. Its positions are in the service's database. */
export interface ConsumerGroup {
  readonly name: string;
  readonly offsets: OffsetStore;
  readonly deadLetters: DeadLetters;
  /**
   * A consumer that applies each record of the topic exactly once: one transaction stores the record's effects and the
   * position after it (`createTransactionalHandler`). Effects of `applyAhead` may occur more often. `start` creates the
   * topic if it is missing, and may be repeated.
   */
  consumer<Item, Effect>(options: GroupConsumerOptions<Item, Effect>): GroupConsumer;
}

export interface GroupConsumer extends LogConsumer {
  /**
   * Resolves once the group has applied all records with `key` whose appends resolved before the call. It does not wait
   * for records that other keys have deferred. Any consumer of the group may apply them, also in other processes.
   * Rejects when `signal` aborts.
   */
  caughtUp(key: string, signal: AbortSignal): Promise<void>;
}

interface GroupConsumerOptions<Item, Effect> extends RecordEffects<Item, Effect> {
  topic: TopicOptions;
  /** Maximum records in a batch. Default: 1 000. Choose fewer if each record needs statements of its own. */
  maxRecords?: number;
  /** See `ConsumerOptions`. Default: 0. */
  lingerMs?: number;
}

const MAX_RECORDS = 1000;
/** Milliseconds between two looks at what the group has applied. */
const LOOK_INTERVAL_MS = 50;

/** Make one per service, before its connection starts. It counts dead letters in the service's metrics. */
export function createConsumerGroup(deps: {
  name: string;
  eventLog: EventLog;
  connection: Connection;
  metrics: Metrics;
  logger: Logger;
}): ConsumerGroup {
  const { name, eventLog, connection, metrics, logger } = deps;
  const offsets = createOffsetStore(connection, name);
  const deadLetters = createDeadLetters({ eventLog, group: name, metrics, logger });

  return {
    name,
    offsets,
    deadLetters,
    consumer({ topic, maxRecords = MAX_RECORDS, lingerMs = 0, ...effects }) {
      // Both may be patient with a record at the same time, so each has its own.
      const newApplier = () => createRecordApplier({ connection, deadLetters, ...effects });
      // Without an estimate, all records are equally cheap, and a batch of one key holds up the others only shortly.
      const store = effects.documents === undefined ? undefined : createDeferredStore(connection, name);
      const deferred = store && createDeferredRecords({ ...deps, group: name, store, applier: newApplier() });
      const handler = createTransactionalHandler({ offsets, applier: newApplier(), deferred });
      const consumer = eventLog.consumer({ group: name, topic: topic.name, handler, maxRecords, lingerMs });
      return {
        ...consumer,
        lag: async () => (await consumer.lag()) + ((await store?.total(topic.name)) ?? 0),
        async caughtUp(key, signal) {
          const { partition, offset } = await consumer.endOf(key);
          const of = { topic: topic.name, partition, key };
          // In this order: a deferred record is stored together with the position after it.
          const isApplied = async (): Promise<boolean> =>
            ((await offsets.position(of.topic, partition)) ?? 0) >= offset &&
            (await store?.hasBefore(of, offset)) !== true;
          while (!(await isApplied())) await delay(LOOK_INTERVAL_MS, undefined, { signal });
        },
        async start() {
          await eventLog.ensureTopic(topic);
          await consumer.start();
        },
      };
    },
  };
}
