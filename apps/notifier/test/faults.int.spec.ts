import { describe, expect, it } from '@jest/globals';
import { eventually, useMongo } from '@tollkeeper/testing';
import { alertRecord, newTenant, notification } from './notification.builder.ts';
import { useNotifier } from './notifier.stack.ts';
import { drop, hang, type Received, status } from './receiver.ts';

const idsOf = (received: Received[]) => received.map(({ headers }) => headers['webhook-id']);

describe('a destination that fails', () => {
  const notifier = useNotifier(useMongo(), { timeoutMs: 10_000, environment: { DELIVERY_CONCURRENCY: '2' } });
  const { clock, names } = notifier;

  it('in whatever way never holds up the others', async () => {
    let lookUps = 0;
    names.set('rebinding.test', () => (lookUps++ === 0 ? ['127.0.0.1'] : ['10.0.0.1']));
    const hundredMegabytes = await notifier.receiver((response) => {
      const chunk = Buffer.alloc(1024 * 1024, 'x');
      const write = (left: number): void => {
        if (left > 0 && !response.destroyed) response.write(chunk, () => write(left - 1));
      };
      write(100);
    });
    const rebinding = await notifier.receiver(status(500));
    const hung = [await notifier.receiver(hang), await notifier.receiver(hang)] as const;
    const urls = {
      failing: (await notifier.receiver(status(500))).url,
      hanging: hung[0].url,
      hangingToo: hung[1].url,
      dropping: (await notifier.receiver(drop)).url,
      redirecting: (await notifier.receiver(status(302, { location: 'https://169.254.169.254/' }))).url,
      huge: hundredMegabytes.url,
      rebinding: rebinding.url.replace('hooks.test', 'rebinding.test'),
      private: 'https://private.test/',
    };
    const good = await notifier.receiver();
    names.set('private.test', () => ['192.168.0.1']);
    const bad = await Promise.all(
      Object.entries(urls).map(async ([name, url]) => ({ name, channel: await notifier.addChannel(newTenant(), url) })),
    );
    const goodChannel = await notifier.addChannel(newTenant(), good.url);

    const sentBad = await Promise.all(
      bad.map(async ({ name, channel }) => [name, await notifier.notify(channel)] as const),
    );
    await eventually(() => expect(hung.map(({ received }) => received.length)).toEqual([1, 1]));
    const sentGood = [];
    for (let n = 0; n < 10; n += 1) sentGood.push(await notifier.notify(goodChannel));
    for (const sent of sentGood) expect(await notifier.outcome(sent)).toMatchObject({ status: 'delivered' });
    const hanging = sentBad.find(([name]) => name === 'hanging')![1];
    expect(notifier.outcomesOf(hanging)).toEqual([]);

    const outcomes = Object.fromEntries(
      await Promise.all(sentBad.map(async ([name, sent]) => [name, await notifier.outcome(sent)] as const)),
    );
    expect(outcomes).toMatchObject({
      failing: { status: 'retrying', responseStatus: 500 },
      hanging: { status: 'retrying', responseStatus: null, error: 'The destination did not answer within 10 s.' },
      dropping: { status: 'retrying', responseStatus: null, error: expect.stringContaining('closed the connection') },
      redirecting: { status: 'retrying', responseStatus: 302, error: expect.stringContaining('not followed') },
      huge: { status: 'delivered', responseSnippet: 'x'.repeat(1024) },
      rebinding: { status: 'retrying', responseStatus: 500 },
      private: { status: 'failed', responseStatus: null, error: expect.stringContaining('special address') },
    });

    clock.now = Date.parse(outcomes['rebinding']!.nextAttemptAt!);
    const rebound = sentBad.find(([name]) => name === 'rebinding')![1];
    expect(await notifier.outcome(rebound, 2)).toMatchObject({ status: 'failed', responseStatus: null });
    expect([lookUps, rebinding.received.length]).toEqual([2, 1]);
    await eventually(() => expect(hundredMegabytes.connections()).toBe(0));
  });
});

describe('a stop', () => {
  const notifier = useNotifier(useMongo());

  it('cuts off an attempt that hangs, which the next start makes again without counting it', async () => {
    const receiver = await notifier.receiver();
    receiver.answers.push(hang);
    const sent = await notifier.notify(await notifier.addChannel(newTenant(), receiver.url));
    await eventually(() => expect(receiver.received).toHaveLength(1));
    await notifier.restart();
    expect(await notifier.outcome(sent)).toMatchObject({ status: 'delivered', attempts: 1, sequence: 1 });
    expect(idsOf(receiver.received)).toEqual([sent.notificationId, sent.notificationId]);
  });
});

describe('the order of a channel', () => {
  const notifier = useNotifier(useMongo());
  const { clock } = notifier;

  it('is that of its notifications, one at a time', async () => {
    let most = 0;
    let open = 0;
    const receiver = await notifier.receiver((response) => {
      most = Math.max(most, ++open);
      setTimeout(() => {
        open -= 1;
        response.end();
      }, 5);
    });
    const { tenantId, id: channelId } = await notifier.addChannel(newTenant(), receiver.url);
    const sent = Array.from({ length: 40 }, () => notification({ tenantId, channelId }));
    await notifier.append(sent.slice(0, 25));
    await notifier.append(sent.slice(25));
    for (const each of sent) await notifier.outcome(each);
    expect(idsOf(receiver.received)).toEqual(sent.map(({ notificationId }) => notificationId));
    expect(most).toBe(1);
  });

  it('is kept by several replicas, which never attempt two deliveries of a channel at once', async () => {
    const replicas = [notifier.create(), notifier.create()];
    for (const replica of replicas) await replica.start();
    let [open, most] = [0, 0];
    const receiver = await notifier.receiver((response) => {
      most = Math.max(most, ++open);
      setImmediate(() => {
        open -= 1;
        response.end();
      });
    });
    const { tenantId, id: channelId } = await notifier.addChannel(newTenant(), receiver.url);
    const sent = Array.from({ length: 30 }, () => notification({ tenantId, channelId }));
    await notifier.append(sent);
    for (const each of sent) await notifier.outcome(each);
    for (const replica of replicas) await replica.stop();
    expect(idsOf(receiver.received)).toEqual(sent.map(({ notificationId }) => notificationId));
    expect(most).toBe(1);
  });

  it('lets newer notifications pass one that waits for its retry, except those of the same alert', async () => {
    const receiver = await notifier.receiver();
    receiver.answers.push(status(500));
    const channel = await notifier.addChannel(newTenant(), receiver.url);
    const alert = alertRecord();
    const fired = await notifier.notify(channel, { alert });
    const { nextAttemptAt } = await notifier.outcome(fired);

    const resolved = await notifier.notify(channel, { alert, type: 'alert.resolved' });
    const other = await notifier.notify(channel);
    await notifier.outcome(other);
    expect(notifier.outcomesOf(resolved)).toEqual([]);
    clock.now = Date.parse(nextAttemptAt!);
    await notifier.outcome(resolved);
    const [first, second, third] = [fired, other, resolved].map(({ notificationId }) => notificationId);
    expect(idsOf(receiver.received)).toEqual([first, second, first, third]);
  });
});

describe('outcomes', () => {
  const gate = { open: true };
  const notifier = useNotifier(useMongo(), {
    wrapLog: (log) => ({
      ...log,
      append: async (topic, records) => {
        if (!gate.open) throw new Error('the log is unreachable');
        await log.append(topic, records);
      },
    }),
  });
  const { clock } = notifier;

  it('reach alerts once the log takes them again, the newest of each delivery, over a restart too', async () => {
    const receiver = await notifier.receiver();
    receiver.answers.push(status(500));
    gate.open = false;
    const sent = await notifier.notify(await notifier.addChannel(newTenant(), receiver.url));
    await eventually(() => expect(receiver.received).toHaveLength(1));
    const nextAttemptAt = await eventually(async () => {
      const stored = await notifier.deliveries().findOne({ _id: sent.notificationId });
      if (stored?.attempts !== 1 || stored.nextAttemptAt === undefined) throw new Error('not stored yet');
      return stored.nextAttemptAt;
    });
    clock.now = nextAttemptAt.getTime();
    await eventually(() => expect(receiver.received).toHaveLength(2));
    await notifier.stop();
    gate.open = true;
    await notifier.start();

    expect(await notifier.outcome(sent, 2)).toMatchObject({ status: 'delivered', sequence: 2 });
    expect(notifier.outcomesOf(sent)).toHaveLength(1);
  });
});
