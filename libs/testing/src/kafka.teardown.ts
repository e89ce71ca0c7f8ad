import stopMongo from './mongo.teardown.ts';

/** Stops the Apache Kafka and the `mongod` of this jest run and removes their data. */
export default async function teardown(): Promise<void> {
  await globalThis.stopTestKafka?.();
  await stopMongo();
}
