import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { encodeNotification, NOTIFICATIONS_TOPIC, NOTIFICATIONS_TOPIC_OPTIONS } from '@tollkeeper/contracts';
import { createConfiguredEventLog } from '@tollkeeper/event-log';
import { createMetrics } from '@tollkeeper/runtime';
import { freePort } from '@tollkeeper/managed-process';
import { CALLER_TOKEN_SECRET, eventually, testLogger, useMongo } from '@tollkeeper/testing';
import { trustedAuthority } from '@tollkeeper/testing/authority';
import { Webhook } from 'standardwebhooks';
import { createChannelApi } from './channel.api.ts';
import { createIdentityStandIn } from './identity.stand-in.ts';
import { newTenant, notification } from './notification.builder.ts';
import { KEY_A } from './notifier.stack.ts';
import { ok, type Receiver, startReceiver } from './receiver.ts';

const MAIN = join(import.meta.dirname, '../src/main.ts');
const SECRET = `whsec_${Buffer.from('a secret that both sides know...').toString('base64')}`;
const CHANNELS = 4;
const NOTIFICATIONS = 60;
const KILLS = 4;
const KILL_AT_EVERY = 10;

describe('a notifier that is killed in the middle of deliveries, again and again', () => {
  const mongo = useMongo();
  const { logger } = testLogger();
  const database = mongo.newDatabase();
  const logDatabase = mongo.newDatabase();
  const identity = createIdentityStandIn(logger);
  const log = createConfiguredEventLog({
    config: { EVENT_LOG_MONGODB_URI: mongo.uri, EVENT_LOG_DATABASE: logDatabase },
    logger,
    metrics: createMetrics('event-log'),
  });
  let port: number;
  let directory: string;
  let receiver: Receiver;
  let child: ChildProcess;
  let requests = 0;
  let kills = 0;

  function startNotifier(): void {
    child = spawn(process.execPath, [MAIN], {
      stdio: 'inherit',
      env: {
        ...{ HOST: '127.0.0.1', OPS_PORT: '0', HTTP_PORT: String(port), GRPC_PORT: '0', LOG_LEVEL: 'error' },
        ...{ MONGODB_URI: mongo.uri, MONGODB_DATABASE: database },
        ...{ EVENT_LOG_MONGODB_URI: mongo.uri, EVENT_LOG_DATABASE: logDatabase },
        CALLER_TOKEN_SECRET,
        ...{ IDENTITY_GRPC: identity.address, PUBLIC_URL: 'https://tollkeeper.example.com' },
        CHANNEL_ENCRYPTION_KEYS: KEY_A,
        ...{ DESTINATION_ALLOW_CIDRS: '127.0.0.1/32', NODE_EXTRA_CA_CERTS: join(directory, 'ca.pem') },
      },
    });
  }

  beforeAll(async () => {
    port = await freePort();
    directory = await mkdtemp(join(tmpdir(), 'tollkeeper-notifier-'));
    const authority = await trustedAuthority();
    await writeFile(join(directory, 'ca.pem'), authority.ca);
    receiver = await startReceiver(authority, (response, request) => {
      if (kills < KILLS && ++requests % KILL_AT_EVERY === 0) {
        kills += 1;
        child.kill('SIGKILL');
      } else ok(response, request);
    });
    await identity.start();
    await log.start();
    await log.ensureTopic(NOTIFICATIONS_TOPIC_OPTIONS);
    // A killed process leaves its transaction open; by default, the server ends it after a minute.
    await mongo.connection.getClient().db('admin').command({ setParameter: 1, transactionLifetimeLimitSeconds: 1 });
  });
  afterAll(async () => {
    child.kill('SIGKILL');
    await receiver.stop();
    await identity.stop();
    await log.stop();
    await rm(directory, { recursive: true });
  });

  it('delivers every notification at least once, with one webhook-id, verified, and in order', async () => {
    const tenantId = newTenant();
    const url = `https://127.0.0.1:${receiver.port}/`;
    const fields = { signingSecret: SECRET };
    startNotifier();
    const { addChannel } = createChannelApi(() => `http://127.0.0.1:${port}`);
    const channels = [await eventually(() => addChannel(tenantId, url, fields))];
    while (channels.length < CHANNELS) channels.push(await addChannel(tenantId, url, fields));
    const sent = Array.from({ length: NOTIFICATIONS }, (_, n) =>
      notification({ tenantId, channelId: channels[n % CHANNELS]!.id }),
    );
    await log.append(NOTIFICATIONS_TOPIC, sent.map(encodeNotification));
    while (kills < KILLS) {
      if (child.signalCode === null) await once(child, 'exit');
      startNotifier();
    }

    const deliveries = mongo.connection.useDb(database).collection('deliveries');
    const delivered = { status: 'delivered', unpublished: { $exists: false } };
    await eventually(async () => expect(await deliveries.countDocuments(delivered)).toBe(NOTIFICATIONS), {
      timeoutMs: 60_000,
    });
    const arrived = receiver.received.map(({ headers, body }) => {
      new Webhook(SECRET).verify(body, headers);
      return headers['webhook-id']!;
    });
    expect(arrived.length).toBeGreaterThan(NOTIFICATIONS);
    for (const { id } of channels) {
      const own = sent.filter(({ channelId }) => channelId === id).map(({ notificationId }) => notificationId);
      expect([...new Set(arrived)].filter((webhookId) => own.includes(webhookId))).toEqual(own);
    }
    expect(new Set(arrived).size).toBe(NOTIFICATIONS);
  });
});
