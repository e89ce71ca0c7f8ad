/** Stops the `mongod` of this jest run and removes its data. */
export default async function teardown(): Promise<void> {
  await globalThis.stopTestMongo?.();
}
