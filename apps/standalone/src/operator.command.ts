import { existsSync } from 'node:fs';
import { loadConfig } from '@tollkeeper/runtime';
import { standaloneConfig, type StandaloneConfig } from './config.ts';
import { createMongo } from './mongo.component.ts';

/**
 * Runs a service's command for operators on the databases of the standalone. Its errors are sentences for people. Only
 * one process can use the managed mongod, so Tollkeeper must not be running, unless MONGODB_URI names another MongoDB.
 */
export async function runOperatorCommand(
  run: (databases: { mongodbUri: string; config: StandaloneConfig }) => Promise<void>,
): Promise<void> {
  const line = (text: string) => void process.stderr.write(`${text}\n`);
  try {
    const config = loadConfig(standaloneConfig, process.env);
    const { TOLLKEEPER_DATA_DIR: data } = config;
    if (config.MONGODB_URI === undefined && !existsSync(data)) {
      throw new Error(`There is no data in ${data}. Set TOLLKEEPER_DATA_DIR or MONGODB_URI as for npm start.`);
    }
    const mongo = createMongo({ config, onProgress: line, onUnexpectedExit: line });
    await mongo.start();
    try {
      await run({ mongodbUri: mongo.uri, config });
    } finally {
      await mongo.stop();
    }
  } catch (error) {
    line(error instanceof Error ? error.message : String(error));
    process.exitCode = 2;
  }
}
