import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startKafka } from '@tollkeeper/embedded-kafka';
import { KAFKA_BROKERS_VARIABLE } from './kafka.variable.ts';
import startMongo from './mongo.setup.ts';

declare global {
  var stopTestKafka: (() => Promise<void>) | undefined;
}

/**
 * Starts the Apache Kafka of this jest run and its `mongod` before any suite, and passes their addresses to the
 * workers.
 */
export default async function setup(): Promise<void> {
  await startMongo();
  const dataDirectory = await mkdtemp(join(tmpdir(), 'tollkeeper-test-kafka-'));
  const kafka = await startKafka({ dataDirectory, onProgress: (line) => process.stderr.write(`${line}\n`) });
  process.env[KAFKA_BROKERS_VARIABLE] = kafka.brokers;
  globalThis.stopTestKafka = async () => {
    await kafka.stop();
    await rm(dataDirectory, { recursive: true, force: true });
  };
}
