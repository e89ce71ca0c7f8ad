import { describe, expect, it } from '@jest/globals';
import { eventually, useMongo } from '@tollkeeper/testing';
import { newTenant, notification } from './notification.builder.ts';
import { useNotifier } from './notifier.stack.ts';
import { type Answer, gated, ok } from './receiver.ts';

const PLACES = 2;
const BACKLOG = 60;
/** Too long for an attempt to count as quick. */
const SLOW_ANSWER_MS = 2100;

describe('a channel that works', () => {
  const notifier = useNotifier(useMongo(), {
    timeoutMs: 120_000,
    environment: { DELIVERY_CONCURRENCY: String(PLACES) },
  });
  const { clock } = notifier;
  const addChannels = (count: number, url: string) =>
    Promise.all(Array.from({ length: count }, () => notifier.addChannel(newTenant(), url)));

  it('has its turn before channels with a backlog have another one', async () => {
    const gate = gated();
    const busy = await notifier.receiver(gate.answer);
    const backlogs = (await addChannels(PLACES, busy.url)).map(({ tenantId, id: channelId }) =>
      Array.from({ length: BACKLOG }, () => notification({ tenantId, channelId })),
    );
    await notifier.append(backlogs.flat());
    await eventually(() => expect(busy.received).toHaveLength(PLACES));
    let before = 0;
    const good = await notifier.receiver((response, request) => {
      before = busy.received.length;
      ok(response, request);
    });
    clock.now += 1;
    const newer = await notifier.notify(await notifier.addChannel(newTenant(), good.url));
    await notifier.queued(newer);

    gate.open();
    await notifier.outcome(newer);
    for (const backlog of backlogs) await notifier.outcome(backlog.at(-1)!);
    expect(before).toBeGreaterThan(PLACES);
    expect(before).toBeLessThan((PLACES * BACKLOG * 2) / 3);
  });

  it('is served while more channels hang than there are places, though none was slow before', async () => {
    const gate = gated();
    const hung = await notifier.receiver(gate.answer);
    const hanging = await addChannels(2 * PLACES + 1, hung.url);
    const sent = await Promise.all(hanging.map((channel) => notifier.notify(channel)));
    for (const each of sent) await notifier.queued(each);
    clock.now += 1;
    const good = await notifier.notify(await notifier.addChannel(newTenant(), (await notifier.receiver()).url));

    await notifier.outcome(good);
    expect(hung.received).toHaveLength(sent.length);
    expect(hung.connections()).toBe(sent.length);
    expect(sent.flatMap(notifier.outcomesOf)).toEqual([]);
    gate.open();
    for (const each of sent) await notifier.outcome(each);
  });

  it('has places that channels which were slow before never take', async () => {
    const gate = gated();
    const hung = await notifier.receiver(gate.answer);
    const channels = await addChannels(PLACES + 1, hung.url);
    const slowly: Answer = (response, request) => setTimeout(() => ok(response, request), SLOW_ANSWER_MS);
    hung.answers.push(...channels.map(() => slowly));
    const first = await Promise.all(channels.map((channel) => notifier.notify(channel)));
    for (const each of first) await notifier.outcome(each);

    const sent = await Promise.all(channels.map((channel) => notifier.notify(channel)));
    for (const each of sent) await notifier.queued(each);
    await eventually(() => expect(hung.received).toHaveLength(first.length + PLACES));
    const good = await addChannels(PLACES, (await notifier.receiver()).url);
    for (const channel of good) await notifier.outcome(await notifier.notify(channel));
    expect(hung.received).toHaveLength(first.length + PLACES);
    gate.open();
    for (const each of sent) await notifier.outcome(each);
  });
});
