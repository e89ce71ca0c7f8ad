import { createOffsetStore, type OffsetStore } from '@tollkeeper/mongo';
import type { Logger, Metrics } from '@tollkeeper/runtime';
import type { Connection } from 'mongoose';
import { createDeadLetters, type DeadLetters } from './dead-letters.ts';
import type { EventLog, LogConsumer, TopicOptions } from './event-log.ts';
import { createTransactionalHandler, type RecordEffects } from './transactional.handler.ts';

/** The group that a service's replicas read the log as, with its positions in the service's database. */
export interface ConsumerGroup {
  readonly name: string;
  readonly offsets: OffsetStore;
  readonly deadLetters: DeadLetters;
  /**
   * A consumer that applies each record of the topic exactly once: its effects and the position behind it are one
   * transaction (`createTransactionalHandler`). Its start makes the topic where it is missing, and may be repeated.
   */
  consumer<Item, Effect>(options: GroupConsumerOptions<Item, Effect>): LogConsumer;
}

export interface GroupConsumerOptions<Item, Effect> extends RecordEffects<Item, Effect> {
  topic: TopicOptions;
  /** Most records read at once; 1,000 unless given. Fewer where each is applied with statements of its own. */
  maxRecords?: number;
}

const MAX_RECORDS = 1000;

/** Make one in a service, before its connection starts: it counts what it sets aside in the metrics. */
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
    consumer({ topic, maxRecords = MAX_RECORDS, ...effects }) {
      const handler = createTransactionalHandler({ connection, offsets, deadLetters, ...effects });
      const consumer = eventLog.consumer({ group: name, topic: topic.name, handler, maxRecords });
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
