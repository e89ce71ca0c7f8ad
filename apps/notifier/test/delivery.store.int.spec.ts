import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { connectMongo, withTransaction } from '@tollkeeper/mongo';
import { testLogger, useMongo } from '@tollkeeper/testing';
import { CHANNEL_KINDS } from '../src/channels/channel.kinds.ts';
import type { Delivery } from '../src/domain/delivery.ts';
import { concludeAttempt } from '../src/domain/conclude-attempt.ts';
import { createDeliveryStore } from '../src/store/delivery.store.ts';
import { notification } from './notification.builder.ts';

const CHANNELS = 20;
const OVER = 500;
const OPEN = 200;
const NOW = Date.now();
const LEASE_MS = 5000;

/** What the server's profiler records about an operation. */
interface Profiled {
  ns: string;
  planSummary?: string;
  docsExamined?: number;
}

describe('the store of deliveries', () => {
  const mongo = useMongo();
  const database = mongo.newDatabase();
  const { logger } = testLogger();
  const server = connectMongo({ uri: mongo.uri, database, logger });
  const store = createDeliveryStore(server.connection);
  let channelIds: string[];

  const add = (count: number, channels: string[]) => {
    const batch = Array.from({ length: count }, (_, offset) => ({
      notification: notification({ channelId: channels[offset % channels.length]! }),
      offset,
    }));
    return withTransaction(server.connection, (session) => store.add(session, batch, NOW));
  };
  const newChannels = (count: number) => Array.from({ length: count }, () => notification().channelId);
  const claim = (channelId: string, owner = 'one') => store.claim(channelId, owner, NOW, NOW + LEASE_MS);
  const attempt = (delivery: Delivery, status: number) => {
    const outcome = { kind: 'answered', status, snippet: '', retryAfter: '600' } as const;
    const { retryPausesMs } = CHANNEL_KINDS.webhook;
    return concludeAttempt(delivery, { type: 'webhook', retryPausesMs }, outcome, NOW, Math.random);
  };

  /** The operations that the server ran for `work`. */
  async function profiled(work: () => Promise<void>): Promise<Profiled[]> {
    const db = server.connection.db!;
    await db.dropCollection('system.profile');
    await db.command({ profile: 2 });
    await work();
    await db.command({ profile: 0 });
    const own = { ns: { $in: ['deliveries', 'channel_holds'].map((name) => `${database}.${name}`) } };
    return db.collection<Profiled>('system.profile').find(own).toArray();
  }

  beforeAll(async () => {
    await server.start();
    await add(OVER, newChannels(CHANNELS));
    await server.connection
      .collection('deliveries')
      .updateMany({}, { $set: { status: 'delivered', finishedAt: new Date(NOW) }, $unset: { nextAttemptAt: 1 } });
  });
  beforeEach(async () => {
    channelIds = newChannels(CHANNELS);
    await add(OPEN, channelIds);
    await add(OPEN, channelIds.slice(0, 1));
  });
  afterAll(() => server.stop());

  it('never gives out a delivery of a channel on hold, whoever asks the moment that the attempt before is over', async () => {
    const [channelId = ''] = channelIds;
    const delivery = (await claim(channelId))!;
    const { state, holdChannelUntil } = attempt(delivery, 429);
    expect(await claim(channelId, 'another')).toBeNull();
    expect(await store.conclude(delivery, 'one', state, holdChannelUntil)).toBe(true);
    expect(await claim(channelId, 'another')).toBeNull();
    expect(await store.dueChannels(NOW)).not.toContain(channelId);

    const after = NOW + 600_000;
    expect(await store.dueChannels(after)).toContain(channelId);
    expect(await store.claim(channelId, 'another', after, after)).toMatchObject({ offset: delivery.offset });
  });

  it('asks nothing that reads all deliveries, or all that are over', async () => {
    const profile = await profiled(async () => {
      const delivery = (await claim(channelIds[0]!))!;
      const { notificationId } = delivery.notification;
      const { state } = attempt(delivery, 500);
      const group = { total: 2, resolved: 0, others: [] };
      for (const each of [delivery.notification, { ...delivery.notification, group }]) {
        await store.predecessorDueAt({ ...delivery, notification: each, offset: OPEN });
      }
      await store.renew('one', [notificationId], NOW + LEASE_MS);
      await store.freeExpired(NOW, [notificationId]);
      await store.conclude(delivery, 'one', state, NOW + 1);
      await store.markPublished(await store.unpublished(10));
      await store.dueChannels(NOW);
      await store.oldestStoredAt();
    });
    const collections = profile.map(({ ns }) => ns.replace(`${database}.`, ''));
    expect(collections.filter((name) => name === 'deliveries').length).toBeGreaterThanOrEqual(9);
    expect(collections).toContain('channel_holds');
    const dear = profile.filter(
      ({ planSummary = '', docsExamined = 0 }) => planSummary.includes('COLLSCAN') || docsExamined > CHANNELS,
    );
    expect(dear).toEqual([]);
  });

  it('knows its depth from an index alone', async () => {
    const open = await server.connection.collection('deliveries').countDocuments({ nextAttemptAt: { $exists: true } });
    const profile = await profiled(async () => expect(await store.depth()).toBe(open));
    expect(profile).toMatchObject([{ docsExamined: 0 }]);
  });
});
