import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startEmbeddedMongo } from '@tollkeeper/embedded-mongo';
import { keepExpired } from './mongo.expiry.ts';
import { MONGO_URI_VARIABLE } from './mongo.variable.ts';

declare global {
  var stopTestMongo: (() => Promise<void>) | undefined;
}

/** Starts the `mongod` of this jest run before any suite, and passes its address to the workers. */
export default async function setup(): Promise<void> {
  const dataDirectory = await mkdtemp(join(tmpdir(), 'tollkeeper-test-'));
  const mongo = await startEmbeddedMongo({
    dataDirectory,
    onProgress: (line) => process.stderr.write(`${line}\n`),
    onUnexpectedExit: (reason) => process.stderr.write(`${reason}\n`),
  });
  await keepExpired(mongo.uri);
  process.env[MONGO_URI_VARIABLE] = mongo.uri;
  globalThis.stopTestMongo = async () => {
    await mongo.stop();
    await rm(dataDirectory, { recursive: true, force: true });
  };
}
