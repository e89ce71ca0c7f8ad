import { randomUUID } from 'node:crypto';
import { GATEWAY_EVENTS_TOPIC, GATEWAY_EVENTS_TOPIC_OPTIONS } from '@tollkeeper/contracts';
import kafkajs from 'kafkajs';
import { createStopwatch, type Run } from './stopwatch.ts';

function connect(brokers: string): kafkajs.Kafka {
  return new kafkajs.Kafka({ clientId: 'bench', brokers: brokers.split(','), logLevel: kafkajs.logLevel.ERROR });
}

/**
 * A kafkajs consumer whose `eachBatch` only counts the messages and calls `work` with them. Times are from the first
 * batch to the last message.
 */
export async function runBareEachBatch(
  brokers: string,
  eventCount: number,
  work: (messages: readonly kafkajs.KafkaMessage[]) => void = () => undefined,
): Promise<Run> {
  const stopwatch = createStopwatch();
  const finished = Promise.withResolvers<void>();
  let read = 0;
  const consumer = connect(brokers).consumer({ groupId: `bare-${randomUUID()}`, maxWaitTimeInMs: 250 });
  await consumer.connect();
  await consumer.subscribe({ topics: [GATEWAY_EVENTS_TOPIC], fromBeginning: true });
  await consumer.run({
    partitionsConsumedConcurrently: GATEWAY_EVENTS_TOPIC_OPTIONS.partitions,
    async eachBatch({ batch }) {
      stopwatch.start();
      work(batch.messages);
      read += batch.messages.length;
      if (read === eventCount) finished.resolve();
    },
  });
  await finished.promise;
  const run = stopwatch.read(eventCount);
  await consumer.disconnect();
  return run;
}

/** Sends with a kafkajs producer configured like the event log's: idempotent, acknowledged by all in-sync replicas. */
export async function openBareProducer(
  brokers: string,
): Promise<{ send(messages: kafkajs.Message[]): Promise<void>; close(): Promise<void> }> {
  const producer = connect(brokers).producer({ idempotent: true, allowAutoTopicCreation: false });
  await producer.connect();
  return {
    async send(messages) {
      await producer.send({ topic: GATEWAY_EVENTS_TOPIC, messages, acks: -1 });
    },
    close: () => producer.disconnect(),
  };
}
