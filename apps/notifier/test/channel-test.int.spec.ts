import { describe, expect, it } from '@jest/globals';
import { eventually, useMongo } from '@tollkeeper/testing';
import { MAX_TESTS_UNDER_WAY } from '../src/domain/test-channel.ts';
import { newTenant } from './notification.builder.ts';
import { PUBLIC_URL, useNotifier } from './notifier.stack.ts';
import { drop, hang, ok, status } from './receiver.ts';

describe('SendTest', () => {
  const notifier = useNotifier(useMongo(), { timeoutMs: 1000 });
  const { alerts } = notifier;
  const sendTest = ({ tenantId, id }: { tenantId: string; id: string }) =>
    notifier.client().sendTest({ tenantId, channelId: id });

  it('sends a test to a webhook at once and answers what the destination said', async () => {
    const receiver = await notifier.receiver();
    const tenantId = newTenant();
    const channel = alerts.addChannel(tenantId, receiver.url, { signingSecret: 'secret' });

    expect(await sendTest(channel)).toEqual({ responseStatus: 200, responseSnippet: 'thanks' });
    const [{ headers, json }] = receiver.received as [(typeof receiver.received)[0]];
    expect(headers).toMatchObject({
      'webhook-id': expect.stringMatching(/^test_\w{20}$/),
      'webhook-signature': /^v1,/,
    });
    expect(json).toMatchObject({
      type: 'channel.test',
      data: { tenant_id: tenantId, url: `${PUBLIC_URL}/w/demo/api/v1/alerts/` },
    });
    expect(await notifier.deliveries().countDocuments()).toBe(0);
  });

  it('sends a test to a chat', async () => {
    const receiver = await notifier.receiver();
    await sendTest(alerts.addChannel(newTenant(), receiver.url, { type: 'chat' }));
    expect(receiver.received[0]!.json).toMatchObject({ text: 'Test (info): Test of this channel' });
  });

  it('goes where the channel points to now, enabled or not', async () => {
    const [before, after] = [await notifier.receiver(), await notifier.receiver()];
    const channel = alerts.addChannel(newTenant(), before.url, { enabled: false });
    await sendTest(channel);
    channel.url = after.url;
    await sendTest(channel);
    expect([before.received.length, after.received.length]).toEqual([1, 1]);
  });

  it.each([302, 404, 410, 500])('answers a %s as what the destination said', async (code) => {
    const receiver = await notifier.receiver(status(code));
    const answer = await sendTest(alerts.addChannel(newTenant(), receiver.url));
    expect(answer).toEqual({ responseStatus: code, responseSnippet: `status ${code}` });
  });

  it.each([
    ['hangs', hang],
    ['drops the connection', drop],
  ])('says destination_unreachable of one that %s', async (_case, answer) => {
    const receiver = await notifier.receiver(answer);
    const attempt = sendTest(alerts.addChannel(newTenant(), receiver.url));
    await expect(attempt).rejects.toMatchObject({ code: 'destination_unreachable' });
  });

  it.each(['https://169.254.169.254/', 'https://[::1]/', 'http://hooks.test/'])(
    'says destination_blocked of %s',
    async (url) => {
      const attempt = sendTest(alerts.addChannel(newTenant(), url));
      await expect(attempt).rejects.toMatchObject({ code: 'destination_blocked' });
    },
  );

  it("knows no other workspace's channel", async () => {
    const receiver = await notifier.receiver();
    const { id } = alerts.addChannel(newTenant(), receiver.url);
    await expect(sendTest({ tenantId: newTenant(), id })).rejects.toMatchObject({ code: 'not_found' });
    expect(receiver.received).toEqual([]);
  });

  it.each([
    ['', 'chan_1', 'tenant_id'],
    ['ws_1', '../x', 'channel_id'],
    ['ws_1', 'x'.repeat(129), 'channel_id'],
  ])('refuses the ids %j and %j by the name of the field', async (tenantId, id, path) => {
    const asked = sendTest({ tenantId, id });
    await expect(asked).rejects.toMatchObject({ code: 'invalid_request', details: [{ path }] });
  });

  it('lets a workspace have a few in progress at a time', async () => {
    const open: (() => void)[] = [];
    const receiver = await notifier.receiver((response, request) => void open.push(() => ok(response, request)));
    const channel = alerts.addChannel(newTenant(), receiver.url);
    const tests = Array.from({ length: MAX_TESTS_UNDER_WAY }, () => sendTest(channel));
    await eventually(() => expect(open).toHaveLength(MAX_TESTS_UNDER_WAY));

    await expect(sendTest(channel)).rejects.toMatchObject({ code: 'rate_limited' });
    const foreign = await notifier.receiver();
    await sendTest(alerts.addChannel(newTenant(), foreign.url));
    for (const answer of open.splice(0)) answer();
    await Promise.all(tests);
    const again = sendTest(channel);
    await eventually(() => expect(open).toHaveLength(1));
    open[0]!();
    expect(await again).toMatchObject({ responseStatus: 200 });
  });
});
