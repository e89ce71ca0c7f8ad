import { existsSync } from 'node:fs';
import { runUserCommand } from '@tollkeeper/identity';
import { createLogger, loadConfig } from '@tollkeeper/runtime';
import { standaloneConfig } from './config.ts';
import { createMongo } from './mongo.component.ts';

// The command of identity on the database of the standalone. The managed mongod belongs to one process at a time, so
// Tollkeeper must not be running, unless MONGODB_URI names a database of its own.
const line = (text: string) => void process.stderr.write(`${text}\n`);
try {
  const config = loadConfig(standaloneConfig, process.env);
  const { TOLLKEEPER_DATA_DIR: data, PUBLIC_URL: publicUrl = `http://localhost:${config.PORT}` } = config;
  if (config.MONGODB_URI === undefined && !existsSync(data)) {
    throw new Error(`There is no data in ${data}. Set TOLLKEEPER_DATA_DIR, or MONGODB_URI, as for npm start.`);
  }
  const mongo = createMongo({ config, onProgress: line, onUnexpectedExit: line });
  await mongo.start();
  try {
    const identity = { MONGODB_URI: mongo.uri, MONGODB_DATABASE: 'tollkeeper_identity', PUBLIC_URL: publicUrl };
    const logger = createLogger({ service: 'user', level: 'info', destination: process.stderr });
    process.stdout.write(await runUserCommand(process.argv.slice(2), { config: identity, logger }));
  } finally {
    await mongo.stop();
  }
} catch (error) {
  line(error instanceof Error ? error.message : String(error));
  process.exitCode = 1;
}
