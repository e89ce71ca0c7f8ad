import type { Message, Producer, RecordMetadata } from 'kafkajs';
import { type LogRecord, MissingTopic } from '../event-log.ts';
import { splitRecords } from '../log.records.ts';
import type { OpenKafkaClient } from './kafka.client.ts';
import { partitionOf } from './key.partitioner.ts';
import { isOfType, type TopicAdmin } from './topic.admin.ts';

/**
 * The limits of one batch. Brokers count a batch as one message, so including the overhead of each record it must stay
 * below 1 MiB. The number of records is limited because kafkajs copies the batch for each record that it adds.
 */
const BATCH_LIMITS = { maxBytes: 850_000, maxRecords: 1_000 };
/** Milliseconds that a broker waits for the other replicas. */
const ACKNOWLEDGE_TIMEOUT_MS = 8_000;

/** Writes the records of one topic. One call at a time. */
export interface RecordWriter {
  /** Resolves once all in-sync replicas have the records. */
  write(records: readonly LogRecord[]): Promise<void>;
  close(): Promise<void>;
}

interface Session {
  producer: Producer;
  partitions: number;
  close(): Promise<void>;
}

/**
 * An idempotent producer of kafkajs. It numbers the records of each partition, so that brokers recognize a retry.
 *
 * After a failed send, the producer is never used again. It would give the numbers of the unconfirmed records to other
 * records. If the unconfirmed ones had arrived after all, brokers would consider the others a retry, acknowledge them
 * and drop them.
 */
export function createRecordWriter(deps: {
  topic: string;
  topics: Pick<TopicAdmin, 'partitionsOf'>;
  openClient: OpenKafkaClient;
}): RecordWriter {
  const { topic, topics, openClient } = deps;
  let session: Promise<Session> | undefined;

  async function open(): Promise<Session> {
    const partitions = await topics.partitionsOf(topic);
    const client = openClient();
    const producer = client.kafka.producer({
      idempotent: true,
      allowAutoTopicCreation: false,
      createPartitioner:
        () =>
        ({ message }) =>
          message.partition ?? 0,
    });
    try {
      await producer.connect();
    } catch (error) {
      client.close();
      throw error;
    }
    const close = async (): Promise<void> => {
      await producer.disconnect().catch(() => undefined);
      client.close();
    };
    return { producer, partitions, close };
  }

  /**
   * Sends until each partition has answered. kafkajs alone would consider a send done if a partition moves, between two
   * attempts, to a broker that has already confirmed other partitions of the send.
   */
  async function send(producer: Producer, messages: Message[]): Promise<void> {
    let rest = messages;
    while (rest.length > 0) {
      const confirmed = await producer.send({ topic, messages: rest, acks: -1, timeout: ACKNOWLEDGE_TIMEOUT_MS });
      const done = new Set(confirmed.map(({ partition }: RecordMetadata) => partition));
      rest = rest.filter(({ partition }) => !done.has(partition ?? 0));
    }
  }

  return {
    async write(records) {
      const opened = (session ??= open());
      try {
        const { producer, partitions } = await opened;
        for (const messages of toRounds(records, partitions)) await send(producer, messages);
      } catch (error) {
        session = undefined;
        void opened.then(({ close }) => close()).catch(() => undefined);
        throw isOfType(error, 'UNKNOWN_TOPIC_OR_PARTITION') ? new MissingTopic(topic) : error;
      }
    },
    async close() {
      const opened = session;
      session = undefined;
      await opened?.then(({ close }) => close()).catch(() => undefined);
    },
  };
}

/** The records as messages, in as few sends as the limits of a batch allow. Each partition keeps its order. */
function toRounds(records: readonly LogRecord[], partitions: number): Message[][] {
  const rounds: Message[][] = [];
  for (const [partition, own] of Map.groupBy(records, ({ key }) => partitionOf(key, partitions))) {
    for (const [round, batch] of splitRecords(own, BATCH_LIMITS).entries()) {
      (rounds[round] ??= []).push(...batch.map((record) => toMessage(record, partition)));
    }
  }
  return rounds;
}

function toMessage({ key, value, headers }: LogRecord, partition: number): Message {
  return { partition, key, value, ...(headers && { headers }) };
}
