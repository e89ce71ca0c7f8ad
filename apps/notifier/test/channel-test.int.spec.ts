import { describe, expect, it } from '@jest/globals';
import { eventually, useMongo } from '@tollkeeper/testing';
import { MAX_TESTS_IN_PROGRESS } from '../src/channels/test.sender.ts';
import type { TestChannel } from './channel.api.ts';
import { newTenant } from './notification.builder.ts';
import { PUBLIC_URL, useNotifier } from './notifier.stack.ts';
import { drop, hang, ok, status } from './receiver.ts';

const senderOf =
  (notifier: ReturnType<typeof useNotifier>) =>
  ({ tenantId, id }: TestChannel) =>
    notifier.call('post', tenantId, `/${id}/test`);
const refusal = (code: string) => expect.objectContaining({ code });

describe('a test of a channel', () => {
  const notifier = useNotifier(useMongo(), { timeoutMs: 1000 });
  const sendTest = senderOf(notifier);

  it('sends a test to a webhook at once and answers what the destination said', async () => {
    const receiver = await notifier.receiver();
    const tenantId = newTenant();
    const channel = await notifier.addChannel(tenantId, receiver.url, { signingSecret: 'a secret of many bytes' });

    const { status: answered, body } = await sendTest(channel);
    expect([answered, body]).toEqual([200, { ResponseStatus: 200, ResponseSnippet: 'thanks' }]);
    const [{ headers, json }] = receiver.received as [(typeof receiver.received)[0]];
    expect(headers).toMatchObject({
      'webhook-id': expect.stringMatching(/^test_\w{20}$/),
      'webhook-signature': expect.stringMatching(/^v1,/),
    });
    expect(json).toMatchObject({
      type: 'channel.test',
      data: { tenant_id: tenantId, url: `${PUBLIC_URL}/w/demo/api/v1/alerts/` },
    });
    expect(await notifier.deliveries().countDocuments()).toBe(0);
  });

  it('sends a test to a chat', async () => {
    const receiver = await notifier.receiver();
    await sendTest(await notifier.addChannel(newTenant(), receiver.url, { type: 'chat' }));
    expect(receiver.received[0]!.json).toMatchObject({
      text: 'Test (info): Test of this channel\n1 call blocked by a budget, any agent',
    });
  });

  it('goes where the channel points to now, enabled or not', async () => {
    const [before, after] = [await notifier.receiver(), await notifier.receiver()];
    const channel = await notifier.addChannel(newTenant(), before.url, { enabled: false });
    await sendTest(channel);
    await notifier.patchChannel(channel, { config: { url: after.url } });
    await sendTest(channel);
    expect([before.received.length, after.received.length]).toEqual([1, 1]);
  });

  it.each([302, 404, 410, 500])('answers a %s as what the destination said', async (code) => {
    const receiver = await notifier.receiver(status(code));
    const { status: answered, body } = await sendTest(await notifier.addChannel(newTenant(), receiver.url));
    expect([answered, body]).toEqual([200, { ResponseStatus: code, ResponseSnippet: `status ${code}` }]);
  });

  it.each([
    ['hangs', hang],
    ['drops the connection', drop],
  ])('says destination_unreachable of one that %s', async (_case, answer) => {
    const receiver = await notifier.receiver(answer);
    const refused = await sendTest(await notifier.addChannel(newTenant(), receiver.url));
    expect([refused.status, refused.body]).toEqual([502, refusal('destination_unreachable')]);
  });

  it.each(['169.254.169.254', '::1', '10.0.0.1'])(
    'says destination_blocked of a name that leads to %s',
    async (address) => {
      notifier.names.set('elsewhere.test', () => [address]);
      const refused = await sendTest(await notifier.addChannel(newTenant(), 'https://elsewhere.test/'));
      expect([refused.status, refused.body]).toEqual([502, refusal('destination_blocked')]);
    },
  );

  it("knows no other workspace's channel", async () => {
    const receiver = await notifier.receiver();
    const channel = await notifier.addChannel(newTenant(), receiver.url);
    expect((await sendTest({ ...channel, tenantId: newTenant() })).status).toBe(404);
    expect(receiver.received).toEqual([]);
  });
});

describe('tests of a channel', () => {
  const notifier = useNotifier(useMongo());
  const sendTest = senderOf(notifier);

  it('are a few at a time in a workspace, and more are refused', async () => {
    const open: (() => void)[] = [];
    const receiver = await notifier.receiver((response, request) => void open.push(() => ok(response, request)));
    const channel = await notifier.addChannel(newTenant(), receiver.url);
    const tests = Array.from({ length: MAX_TESTS_IN_PROGRESS }, () => sendTest(channel));
    await eventually(() => expect(open).toHaveLength(MAX_TESTS_IN_PROGRESS));

    const refused = await sendTest(channel);
    expect([refused.status, refused.body, refused.headers['retry-after']]).toEqual([
      429,
      refusal('rate_limited'),
      '15',
    ]);
    const foreign = await notifier.receiver();
    await sendTest(await notifier.addChannel(newTenant(), foreign.url));
    for (const answer of open.splice(0)) answer();
    await Promise.all(tests);
    const again = sendTest(channel);
    await eventually(() => expect(open).toHaveLength(1));
    open[0]!();
    expect((await again).status).toBe(200);
  });
});
