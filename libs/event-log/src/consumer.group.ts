import { createOffsetStore, type OffsetStore } from '@tollkeeper/mongo';
import type { Logger, Metrics } from '@tollkeeper/runtime';
import type { Connection } from 'mongoose';
import { createDeadLetters, type DeadLetters } from './dead-letters.ts';
import type { EventLog, LogConsumer, TopicOptions } from './event-log.ts';
import { createTransactionalHandler, type RecordEffects } from './transactional.handler.ts';

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
  consumer<Item, Effect>(options: GroupConsumerOptions<Item, Effect>): LogConsumer;
}

interface GroupConsumerOptions<Item, Effect> extends RecordEffects<Item, Effect> {
  topic: TopicOptions;
  /** Maximum records in a batch. Default: 1 000. Choose fewer if each record needs statements of its own. */
  maxRecords?: number;
  /** See `ConsumerOptions`. Default: 0. */
  lingerMs?: number;
}

const MAX_RECORDS = 1000;

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
      const handler = createTransactionalHandler({ connection, offsets, deadLetters, ...effects });
      const consumer = eventLog.consumer({ group: name, topic: topic.name, handler, maxRecords, lingerMs });
      return {
        ...consumer,
        async start() {
          await eventLog.ensureTopic(topic);
          await consumer.start();
        },
      };
    },
  };
}
