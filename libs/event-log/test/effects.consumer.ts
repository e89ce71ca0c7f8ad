import { once } from 'node:events';
import { connectMongo, createOffsetStore, withTransaction } from '@tollkeeper/mongo';
import { createLogger, createMetrics } from '@tollkeeper/runtime';
import type { Connection } from 'mongoose';
import { createMongoEventLog } from '../src/index.ts';
import type { ConsumerHandler } from '../src/event-log.ts';

export const EFFECTS = 'effects';

/**
 * A handler as services write them: inserts one document for each record and stores the position, in one transaction.
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

/**
 * As a process of its own, for tests that kill or pause it: tells its parent of every batch whose effects are in the
 * transaction. With `hold`, the first one waits there for a message of the parent.
 */
export async function runEffectsConsumer(uri: string, database: string, topic: string, hold: boolean): Promise<void> {
  const logger = createLogger({ service: 'effects', level: 'silent' });
  const mongo = connectMongo({ uri, database, logger });
  let held = !hold;
  const handler = createEffectsHandler(mongo.connection, 'effects', async (count) => {
    process.send?.(count);
    if (held) return;
    held = true;
    await once(process, 'message');
  });
  const log = createMongoEventLog({
    connection: mongo.connection,
    logger,
    metrics: createMetrics('effects'),
    leaseMs: 800,
  });
  await mongo.start();
  await log.start();
  await log.consumer({ group: 'effects', topic, maxRecords: 5, handler }).start();
}

const [uri, database, topic, hold] = process.argv.slice(2);
if (import.meta.main && uri && database && topic) await runEffectsConsumer(uri, database, topic, hold === 'hold');
