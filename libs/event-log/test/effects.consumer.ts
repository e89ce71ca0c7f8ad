import { once } from 'node:events';
import { connectMongo, createOffsetStore, withTransaction } from '@tollkeeper/mongo';
import { createLogger, createMetrics } from '@tollkeeper/runtime';
import type { Connection } from 'mongoose';
import type { ConsumerHandler } from '../src/event-log.ts';
import { createKafkaEventLog, createMongoEventLog, type EventLog } from '../src/index.ts';

export const EFFECTS = 'effects';

/**
 * A handler like those of services: inserts one document per record and stores the position, in one transaction.
 * `onEffects` runs between the two.
 */
export function createEffectsHandler(
  connection: Connection,
  group: string,
  onEffects: (count: number) => void | Promise<void> = () => undefined,
): ConsumerHandler {
  const offsets = createOffsetStore(connection, group);
  return {
    position: (topic, partition) => offsets.position(topic, partition),
    handle: ({ topic, partition, records, from, nextOffset }) =>
      withTransaction(connection, async (session) => {
        const effects = records.map(({ value }) => ({ value: value.toString() }));
        await connection.collection(EFFECTS).insertMany(effects, { session });
        await onEffects(effects.length);
        await offsets.advance(session, { topic, partition, from, to: nextOffset });
      }),
  };
}

/** The arguments of the process below, as JSON. */
interface EffectsConsumerOptions {
  uri: string;
  database: string;
  topic: string;
  /** The log is in this Kafka; if absent, in the database. */
  brokers?: string;
  /** After the effects of the first batch, its transaction stays open until the parent sends a message. */
  hold?: boolean;
}

/**
 * Runs as a separate process, for tests that kill or pause it. It notifies its parent of every batch whose effects are
 * in the transaction.
 */
async function runEffectsConsumer(options: EffectsConsumerOptions): Promise<void> {
  const { uri, database, topic, brokers, hold = false } = options;
  const logger = createLogger({ service: 'effects', level: 'silent' });
  const mongo = connectMongo({ uri, database, logger });
  let held = !hold;
  const handler = createEffectsHandler(mongo.connection, 'effects', async (count) => {
    process.send?.(count);
    if (held) return;
    held = true;
    await once(process, 'message');
  });
  const own = { logger, metrics: createMetrics('effects') };
  const log: EventLog =
    brokers === undefined
      ? createMongoEventLog({ ...own, connection: mongo.connection, leaseMs: 800 })
      : createKafkaEventLog({
          ...own,
          brokers: [brokers],
          clientId: 'effects',
          replicationFactor: 1,
          sessionTimeoutMs: 2_000,
        });
  await mongo.start();
  await log.start();
  await log.consumer({ group: 'effects', topic, maxRecords: 5, handler }).start();
}

const [options] = process.argv.slice(2);
if (import.meta.main && options) await runEffectsConsumer(JSON.parse(options) as EffectsConsumerOptions);
