import { execFile } from 'node:child_process';
import { rm } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll } from '@jest/globals';
import { type KafkaBroker, startKafka } from '@tollkeeper/embedded-kafka';
import { type EmbeddedMongo, startEmbeddedMongo } from '@tollkeeper/embedded-mongo';
import { freePort } from '@tollkeeper/managed-process';
import {
  newDataDirectory,
  removeDataDirectory,
  type StandaloneProcess,
  startStandalone,
} from '@tollkeeper/testing/standalone-process';
import type { Target } from './target.ts';
import { startWebhookReceiver, type WebhookReceiver } from './webhook.receiver.ts';

const ROOT = join(import.meta.dirname, '..', '..');
const { scripts } = createRequire(import.meta.url)(join(ROOT, 'package.json')) as { scripts: Record<string, string> };

/** All services on a MongoDB that can be lost as a whole. */
export interface LosableStage {
  /** The same address before and after the loss. */
  target(): Target;
  receiver(): WebhookReceiver;
  /** Runs a script of package.json for operators on this MongoDB, and resolves to what it printed. */
  operate(script: 'backup' | 'restore' | 'verify', ...args: string[]): Promise<string>;
  /** Below the data directory, which is removed at the end. */
  path(name: string): string;
  /** Kills the services and MongoDB, and removes the files of the databases. An empty MongoDB takes their place. */
  loseMongo(): Promise<void>;
  /** Starts the services again. */
  start(): Promise<void>;
}

/** The log is in Kafka, which is not lost. */
export function useLosableStage(): LosableStage {
  let directory: string;
  let receiver: WebhookReceiver;
  let kafka: KafkaBroker;
  let mongo: EmbeddedMongo;
  let standalone: StandaloneProcess;
  let target: Target;
  let settings: NodeJS.ProcessEnv;

  const start = async (): Promise<void> => {
    const env = { ...settings, MONGODB_URI: mongo.uri };
    standalone = await startStandalone({ dataDirectory: join(directory, 'standalone'), env });
  };
  const startMongo = async (): Promise<void> => {
    mongo = await startEmbeddedMongo({ dataDirectory: join(directory, 'databases'), cacheSizeMb: 128 });
  };

  beforeAll(async () => {
    directory = await newDataDirectory();
    receiver = await startWebhookReceiver();
    kafka = await startKafka({ dataDirectory: join(directory, 'kafka') });
    settings = {
      TOLLKEEPER_ALLOW_CIDRS: '127.0.0.0/8',
      NODE_EXTRA_CA_CERTS: receiver.certificateFile,
      PORT: String(await freePort()),
      ...{ KAFKA_BROKERS: kafka.brokers, KAFKA_REPLICATION_FACTOR: '1' },
    };
    await startMongo();
    await start();
    const { baseUrl, owner, workspace, apiKey } = standalone;
    target = { baseUrl, owner, workspace, apiKey, logs: () => standalone.logs() };
  });
  afterAll(async () => {
    await standalone?.end('SIGTERM');
    await mongo?.stop();
    await kafka?.stop();
    await receiver.stop();
    await removeDataDirectory(directory);
  });

  return {
    target: () => target,
    receiver: () => receiver,
    path: (name) => join(directory, name),
    async operate(script, ...args) {
      const [, ...command] = scripts[script]!.split(' ');
      const env = { ...process.env, NODE_OPTIONS: '', MONGODB_URI: mongo.uri };
      const { stdout, stderr } = await promisify(execFile)(process.execPath, [...command, ...args], { cwd: ROOT, env });
      return stdout + stderr;
    },
    async loseMongo() {
      await standalone.end('SIGKILL');
      process.kill(mongo.pid, 'SIGKILL');
      await mongo.stop();
      await rm(join(directory, 'databases'), { recursive: true });
      await startMongo();
    },
    start,
  };
}
