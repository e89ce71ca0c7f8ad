import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startEmbeddedMongo } from '@tollkeeper/embedded-mongo';
import { createConfiguredEventLog } from '@tollkeeper/event-log';
import { createIdentity, identityConfig } from '@tollkeeper/identity';
import { createLogger, createMetrics, loadConfig } from '@tollkeeper/runtime';
import { announce } from './announce.ts';

export interface IdentityAddress {
  httpUrl: string;
  grpcAddress: string;
  email: string;
  password: string;
  slug: string;
}

const owner = { email: 'owner@example.com', password: 'benchmark-password', slug: 'bench' };

const dataDirectory = await mkdtemp(join(tmpdir(), 'tollkeeper-bench-'));
const mongo = await startEmbeddedMongo({ dataDirectory });
const deps = { logger: createLogger({ service: 'identity', level: 'warn' }), metrics: createMetrics('identity') };
const config = loadConfig(identityConfig, {
  ...{ HOST: '127.0.0.1', HTTP_PORT: '0', GRPC_PORT: '0', MONGODB_URI: mongo.uri },
  ...{ CALLER_TOKEN_SECRET: process.env['CALLER_TOKEN_SECRET'], PUBLIC_URL: 'http://localhost:8080' },
});
const eventLog = createConfiguredEventLog({
  config: { EVENT_LOG_MONGODB_URI: mongo.uri, EVENT_LOG_DATABASE: 'tollkeeper_log' },
  ...deps,
});
await eventLog.start();
const identity = createIdentity({ config, eventLog, ...deps });
await identity.start();
await identity.ensureOwner({ ...owner, workspace: { slug: owner.slug, name: 'Bench' } });

const stop = async (): Promise<void> => {
  await identity.stop();
  await eventLog.stop();
  await mongo.stop();
  await rm(dataDirectory, { recursive: true });
  process.exit();
};
process.on('SIGTERM', () => void stop());
const address: IdentityAddress = { httpUrl: identity.httpUrl, grpcAddress: identity.grpcAddress, ...owner };
announce(address);
