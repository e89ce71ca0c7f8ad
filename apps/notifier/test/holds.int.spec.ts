import { describe, expect, it } from '@jest/globals';
import { useMongo } from '@tollkeeper/testing';
import { newTenant, notification } from './notification.builder.ts';
import { useNotifier } from './notifier.stack.ts';
import { ok, status } from './receiver.ts';

const MINUTE_MS = 60_000;

describe('a Retry-After', () => {
  const notifier = useNotifier(useMongo(), { clock: { now: Date.now() } });
  const { clock } = notifier;

  /** A destination that accepts one request per this many minutes, and records each request. */
  async function limited(minutes: number) {
    let nextAt = 0;
    const requests: { id: string | undefined; at: number; taken: boolean }[] = [];
    const receiver = await notifier.receiver((response, request) => {
      const taken = clock.now >= nextAt;
      requests.push({ id: String(request.headers['webhook-id']), at: clock.now, taken });
      if (taken) {
        nextAt = clock.now + minutes * MINUTE_MS;
        ok(response, request);
      } else status(429, { 'retry-after': String(minutes * 60) })(response, request);
    });
    return { requests, channel: await notifier.addChannel(newTenant(), receiver.url) };
  }

  it('holds all of its channel, what comes in meanwhile too, over a restart; then they go in their order', async () => {
    const requests: { id: unknown; at: number }[] = [];
    const receiver = await notifier.receiver((response, request) => {
      requests.push({ id: request.headers['webhook-id'], at: clock.now });
      (requests.length === 1 ? status(503, { 'retry-after': '600' }) : ok)(response, request);
    });
    const channel = await notifier.addChannel(newTenant(), receiver.url);
    const others = await notifier.addChannel(newTenant(), (await notifier.receiver()).url);
    /** Once another channel has its delivery, this one has had its chance too. */
    const passOthers = async () => notifier.outcome(await notifier.notify(others));
    const before = [1, 2].map(() => notification({ tenantId: channel.tenantId, channelId: channel.id }));
    await notifier.append(before);

    const end = clock.now + 10 * MINUTE_MS;
    expect(await notifier.outcome(before[0]!)).toMatchObject({ nextAttemptAt: new Date(end).toISOString() });
    clock.now += MINUTE_MS;
    const during = await notifier.notify(channel);
    await notifier.queued(during);
    await passOthers();
    clock.now = end - 1;
    await notifier.restart();
    await passOthers();
    clock.now = end;
    await notifier.outcome(during);
    const sent = [...before, during, await notifier.notify(channel)];
    for (const each of sent) await notifier.outcome(each);

    const arrived = requests.slice(1);
    expect(arrived.map(({ id }) => id)).toEqual(sent.map(({ notificationId }) => notificationId));
    expect(arrived.map(({ at }) => at)).toEqual(sent.map(() => end));
  });

  it('that comes again and again lets every notification through, in order, at the pace of the destination', async () => {
    const { channel, requests } = await limited(2);
    const sent = Array.from({ length: 12 }, () =>
      notification({ tenantId: channel.tenantId, channelId: channel.id, channelType: 'chat' }),
    );
    await notifier.append(sent);
    await notifier.outcome(sent[0]!);
    for (const each of sent.slice(1)) {
      const { nextAttemptAt } = await notifier.outcome(each);
      clock.now = Date.parse(nextAttemptAt!);
      expect(await notifier.outcome(each, 2)).toMatchObject({ status: 'delivered' });
    }
    const ids = sent.map(({ notificationId }) => notificationId);
    expect(requests.filter(({ taken }) => taken).map(({ id }) => id)).toEqual(ids);
    expect(requests).toHaveLength(2 * sent.length - 1);
  });
});
