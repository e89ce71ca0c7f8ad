import { describe, expect, it } from '@jest/globals';
import { checkRaiseLink, encodeNotification, RAISE_LINK_MS } from '@tollkeeper/contracts';
import { CALLER_TOKEN_SECRET, eventually, useMongo } from '@tollkeeper/testing';
import { Webhook } from 'standardwebhooks';
import { alertRecord, newTenant, notification } from './notification.builder.ts';
import { PUBLIC_URL, useNotifier } from './notifier.stack.ts';
import { drop, gated, status } from './receiver.ts';

const SECRET = `whsec_${Buffer.from('a secret that both sides know...').toString('base64')}`;
const iso = (epochMs: number) => new Date(epochMs).toISOString();

describe('a delivery', () => {
  const notifier = useNotifier(useMongo());
  const { clock } = notifier;

  it('delivers the alert to a webhook, signed, and reports it to alerts', async () => {
    const receiver = await notifier.receiver();
    const tenantId = newTenant();
    const sent = await notifier.notify(await notifier.addChannel(tenantId, receiver.url, { signingSecret: SECRET }));

    const outcome = await notifier.outcome(sent);
    expect(outcome).toMatchObject({
      ...{ notificationId: sent.notificationId, type: 'alert.fired', tenantId, alertId: sent.alert.id },
      ...{ channelId: sent.channelId, channelType: 'webhook', status: 'delivered', attempts: 1, sequence: 1 },
      ...{ responseStatus: 200, responseSnippet: 'thanks', error: null, nextAttemptAt: null },
      lastAttemptAt: iso(clock.now),
    });
    expect(receiver.received).toHaveLength(1);
    const [{ headers, body, json }] = receiver.received as [(typeof receiver.received)[0]];
    expect(headers).toMatchObject({ 'webhook-id': sent.notificationId, 'content-type': 'application/json' });
    expect(headers['webhook-timestamp']).toBe(String(clock.now / 1000));
    // The library only accepts current timestamps, and the clock of the test is stopped.
    expect(new Webhook(SECRET).sign(sent.notificationId, new Date(clock.now), body)).toBe(headers['webhook-signature']);
    expect(json).toEqual({
      type: 'alert.fired',
      timestamp: sent.occurredAt,
      data: { ...sent.alert, url: `${PUBLIC_URL}/w/demo/api/v1/alerts/${sent.alert.id}` },
    });
  });

  it('of a request for a raise has its link for an hour, which no report to alerts has', async () => {
    const receiver = await notifier.receiver();
    receiver.answers.push((response) => void response.end(receiver.received[0]!.body.slice(-400)));
    const tenantId = newTenant();
    const { id: channelId } = await notifier.addChannel(tenantId, receiver.url);
    const raise = {
      ...{ raise_id: 'rai_1', budget_id: 'bud_1', budget_name: 'Per user', extra_micros: 10, reason: 'Night run' },
      ...{ until: iso(clock.now + 3_600_000), asked_by: 'Mia' },
    };
    const alert = alertRecord({ tenant_id: tenantId, raise, event_types: [], event_count: 1, threshold: 1 });
    const sent = notification({ tenantId, channelId, alert });
    await notifier.append([sent]);
    const outcome = await notifier.outcome(sent);
    const { url, ...rest } = receiver.received[0]!.json.data;
    expect(rest).toEqual(alert);
    const link = new URL(String(url));
    expect(link.href.split('?')[0]).toBe(`${PUBLIC_URL}/w/demo/raises/rai_1`);
    const token = link.searchParams.get('token')!;
    const fired = Date.parse(alert.triggered_at);
    const check = (now: number) => checkRaiseLink(CALLER_TOKEN_SECRET, { tenantId, raiseId: 'rai_1' }, token, now);
    expect([check(fired + RAISE_LINK_MS - 1), check(fired + RAISE_LINK_MS)]).toEqual(['good', 'expired']);
    // The destination echoes the link.
    expect(outcome.responseSnippet).toContain('/raises/rai_1?token=');
    expect(JSON.stringify(outcome)).not.toContain(token);
    expect(JSON.stringify(await notifier.deliveries().find().toArray())).not.toContain(token);
  });

  it('to a channel without a secret carries no signature', async () => {
    const receiver = await notifier.receiver();
    const sent = await notifier.notify(await notifier.addChannel(newTenant(), receiver.url));
    await notifier.outcome(sent);
    expect(receiver.received[0]!.headers).not.toHaveProperty('webhook-signature');
  });

  it('to a chat is text and blocks', async () => {
    const receiver = await notifier.receiver();
    const sent = await notifier.notify(await notifier.addChannel(newTenant(), receiver.url, { type: 'chat' }));
    expect(await notifier.outcome(sent)).toMatchObject({ channelType: 'chat', status: 'delivered' });
    expect(receiver.received[0]!.json).toEqual({
      text: 'Alert (high): Budget blocks\n3 calls blocked by a budget within 10 minutes, any agent (threshold 3)',
      blocks: [expect.anything(), expect.anything(), expect.anything()],
    });
    expect(receiver.received[0]!.headers).not.toHaveProperty('webhook-id');
    expect(receiver.received[0]!.body).toContain(`<${PUBLIC_URL}/w/demo/alerts?alert=${sent.alert.id}|Open`);
  });

  it.each([
    ['webhook', { data: { labels: { team: 'gr*', 'cost.center': '1200' } } }],
    ['chat', { text: expect.stringContaining('any agent, with `cost.center=1200, team=gr*` (threshold 3)') }],
  ] as const)('to a %s has the labels of the rule', async (type, expected) => {
    const receiver = await notifier.receiver();
    const tenantId = newTenant();
    const { id: channelId } = await notifier.addChannel(tenantId, receiver.url, { type });
    const alert = alertRecord({ tenant_id: tenantId, labels: { team: 'gr*', 'cost.center': '1200' } });
    const sent = notification({ tenantId, channelId, alert });
    await notifier.append([sent]);
    expect(await notifier.outcome(sent)).toMatchObject({ status: 'delivered' });
    expect(receiver.received[0]!.json).toMatchObject(expected);
  });

  it.each(['webhook', 'chat'] as const)(
    'to a %s is made of a notification whose kind, severity, status, scope and types are of a newer release of alerts',
    async (type) => {
      const receiver = await notifier.receiver();
      const tenantId = newTenant();
      const channel = await notifier.addChannel(tenantId, receiver.url, { type });
      const sent = notification({ tenantId, channelId: channel.id, alert: alertRecord({ tenant_id: tenantId }) });
      const { key, value } = encodeNotification(sent);
      const newer = { rule_kind: 'spend_rate_gte', severity: 'fatal', status: 'snoozed', scope_type: 'team' };
      const record = JSON.parse(value.toString()) as object;
      const newest = { ...record, type: 'alert.escalated', channel_type: 'pager', alert: { ...sent.alert, ...newer } };
      await notifier.appendValues([{ key, value: Buffer.from(JSON.stringify(newest)) }]);

      const outcome = await notifier.outcome(sent);
      expect(outcome).toMatchObject({ type: 'alert.escalated', channelType: type, status: 'delivered' });
      const { json } = receiver.received[0]!;
      if (type === 'webhook') expect(json).toMatchObject({ type: 'alert.escalated', data: newer });
      else
        expect(json).toMatchObject({
          text: expect.stringContaining('alert.escalated (fatal): Budget blocks\n3 calls'),
        });
    },
  );

  it('is made once though the log has its notification several times', async () => {
    const receiver = await notifier.receiver();
    const channel = await notifier.addChannel(newTenant(), receiver.url);
    const sent = await notifier.notify(channel);
    await notifier.append([sent, sent]);
    await notifier.append([sent]);
    await notifier.outcome(await notifier.notify(channel));
    expect(receiver.received.filter(({ headers }) => headers['webhook-id'] === sent.notificationId)).toHaveLength(1);
  });

  it('that was made is reported again, and not made again, when alerts sends its notification once more', async () => {
    const receiver = await notifier.receiver();
    const sent = await notifier.notify(await notifier.addChannel(newTenant(), receiver.url));
    const made = await notifier.outcome(sent);
    await notifier.append([sent]);
    await eventually(() => expect(notifier.outcomesOf(sent)).toEqual([made, made]));
    expect(receiver.received).toHaveLength(1);
  });

  it('is tried again on schedule with the same webhook-id and a fresh signature', async () => {
    const receiver = await notifier.receiver();
    receiver.answers.push(status(500, {}, 'broken'), drop, status(429));
    const sent = await notifier.notify(await notifier.addChannel(newTenant(), receiver.url, { signingSecret: SECRET }));

    const pausesMs = [5_000, 30_000, 120_000];
    for (const [index, pauseMs] of pausesMs.entries()) {
      const { status: now, nextAttemptAt } = await notifier.outcome(sent, index + 1);
      const waitMs = Date.parse(nextAttemptAt!) - clock.now;
      expect([now, waitMs >= pauseMs, waitMs <= pauseMs * 1.2]).toEqual(['retrying', true, true]);
      clock.now += waitMs;
    }
    expect(await notifier.outcome(sent, 4)).toMatchObject({ status: 'delivered', error: null });
    expect(notifier.outcomesOf(sent)).toMatchObject([
      { sequence: 1, responseStatus: 500, responseSnippet: 'broken', error: 'The destination answered 500.' },
      { sequence: 2, responseStatus: null, error: 'The destination closed the connection without an answer.' },
      { sequence: 3, responseStatus: 429 },
      { sequence: 4, responseStatus: 200 },
    ]);
    expect(new Set(receiver.received.map(({ headers }) => headers['webhook-id']))).toEqual(
      new Set([sent.notificationId]),
    );
    expect(new Set(receiver.received.map(({ headers }) => headers['webhook-signature'])).size).toBe(4);
  });

  it('about resolved alerts of a group waits for those about the fired ones, and links to the alerts of the rule', async () => {
    const receiver = await notifier.receiver();
    receiver.answers.push(status(500));
    const { tenantId, id: channelId } = await notifier.addChannel(newTenant(), receiver.url);
    const group = { total: 2, resolved: 0, others: [alertRecord()] };
    const [fired, resolved] = (['alert.fired', 'alert.resolved'] as const).map((type) =>
      notification({ tenantId, channelId, type, group }),
    );
    await notifier.append([fired!, resolved!]);
    clock.now = Date.parse((await notifier.outcome(fired!)).nextAttemptAt!);
    await notifier.outcome(fired!, 2);
    // A waiting notification is looked at again when the one before it was due.
    clock.now += 1000;
    await notifier.outcome(resolved!);
    const types = receiver.received.map(({ json }) => json.type);
    expect(types).toEqual(['alert.fired', 'alert.fired', 'alert.resolved']);
    const url = `${PUBLIC_URL}/w/demo/api/v1/alerts?rule_id=rule_1`;
    for (const { json } of receiver.received) expect(json.data).toMatchObject({ url, group });
  });

  it('is given up after the last retry', async () => {
    const receiver = await notifier.receiver(status(500));
    const sent = await notifier.notify(await notifier.addChannel(newTenant(), receiver.url, { type: 'chat' }));
    for (let attempts = 1; attempts < 6; attempts += 1) {
      clock.now = Date.parse((await notifier.outcome(sent, attempts)).nextAttemptAt!);
    }
    expect(await notifier.outcome(sent, 6)).toMatchObject({ status: 'failed', nextAttemptAt: null });
  });

  it('keeps its schedule over a restart', async () => {
    const receiver = await notifier.receiver();
    receiver.answers.push(status(503));
    const sent = await notifier.notify(await notifier.addChannel(newTenant(), receiver.url));
    const due = Date.parse((await notifier.outcome(sent)).nextAttemptAt!);

    clock.now = due - 1;
    await notifier.restart();
    // Once another delivery has been made, this one has had its chance too.
    await notifier.outcome(await notifier.notify(await notifier.addChannel(newTenant(), receiver.url)));
    expect(notifier.outcomesOf(sent)).toHaveLength(1);
    clock.now = due;
    expect(await notifier.outcome(sent, 2)).toMatchObject({ status: 'delivered', sequence: 2 });
  });

  it('that the destination answers with 410 fails at once and disables the channel, which alerts and the audit log hear of', async () => {
    const receiver = await notifier.receiver(status(410));
    const channel = await notifier.addChannel(newTenant(), receiver.url);
    const { tenantId, id } = channel;
    const sent = [await notifier.notify(channel), await notifier.notify(channel)] as const;
    expect(await notifier.outcome(sent[0])).toMatchObject({ status: 'failed', responseStatus: 410 });
    expect(await notifier.expecting(200, 'get', tenantId, `/${id}`)).toMatchObject({ enabled: false });
    expect(await notifier.outcome(sent[1], 0)).toMatchObject({ attempts: 0, error: 'The channel is disabled.' });
    expect(receiver.received).toHaveLength(1);

    const summary = { id, type: 'webhook', enabled: false, revision: 2 };
    const changed = [{ kind: 'channel.changed', tenantId, channel: summary }];
    await eventually(() => expect(notifier.reportedOf(tenantId)).toEqual(changed));
    const [, disabled] = await notifier.audited(tenantId, 2);
    expect(disabled).toMatchObject({
      ...{ action: 'channel.disable', target: { type: 'channel', id }, actor: { type: 'system', id: 'alerts' } },
      changes: [{ field: 'enabled', from: true, to: false }],
    });
    expect(notifier.logs.text()).toContain('a channel was disabled because its destination answered 410 Gone');

    await notifier.patchChannel(channel, { enabled: true });
    await notifier.outcome(await notifier.notify(channel));
    expect(receiver.received).toHaveLength(2);
  });

  it('whose destination answers with 410 leaves a channel alone that was changed meanwhile', async () => {
    const gate = gated(status(410));
    const receiver = await notifier.receiver(gate.answer);
    const channel = await notifier.addChannel(newTenant(), receiver.url);
    const sent = await notifier.notify(channel);
    await eventually(() => expect(receiver.received).toHaveLength(1));
    await notifier.patchChannel(channel, { config: { url: (await notifier.receiver()).url } });
    gate.open();
    expect(await notifier.outcome(sent)).toMatchObject({ status: 'failed', responseStatus: 410 });
    expect(await notifier.expecting(200, 'get', channel.tenantId, `/${channel.id}`)).toMatchObject({ enabled: true });
  });

  it('to a channel that is deleted or disabled fails without a request', async () => {
    const receiver = await notifier.receiver();
    const disabled = await notifier.addChannel(newTenant(), receiver.url, { enabled: false });
    const deleted = await notifier.addChannel(newTenant(), receiver.url, { type: 'chat' });
    await notifier.deleteChannel(deleted);
    const foreign = { ...(await notifier.addChannel(newTenant(), receiver.url)), tenantId: newTenant() };

    expect(await notifier.outcome(await notifier.notify(disabled), 0)).toMatchObject({
      ...{ status: 'failed', attempts: 0, error: 'The channel is disabled.' },
    });
    for (const channel of [deleted, foreign]) {
      expect(await notifier.outcome(await notifier.notify(channel), 0)).toMatchObject({
        ...{ status: 'failed', attempts: 0, error: 'The channel was deleted.', channelType: channel.type },
      });
    }
    expect(receiver.received).toEqual([]);
  });

  it('goes where the channel points to at each attempt', async () => {
    const [before, after] = [await notifier.receiver(status(500)), await notifier.receiver()];
    const channel = await notifier.addChannel(newTenant(), before.url);
    const sent = await notifier.notify(channel);
    const { nextAttemptAt } = await notifier.outcome(sent);
    await notifier.patchChannel(channel, { config: { url: after.url } });
    clock.now = Date.parse(nextAttemptAt!);
    await notifier.outcome(sent, 2);
    expect([before.received.length, after.received.length]).toEqual([1, 1]);
  });

  it('waits without losing an attempt while the channel cannot be decrypted', async () => {
    const receiver = await notifier.receiver();
    const channel = await notifier.addChannel(newTenant(), receiver.url);
    await notifier.channels().updateOne({ _id: channel.id }, { $set: { keyId: 'lost' } });
    const sent = await notifier.notify(channel);
    await eventually(() => expect(notifier.logs.text()).toContain('a delivery could not be processed; retrying'));
    expect(await notifier.deliveries().findOne({ _id: sent.notificationId })).toMatchObject({ attempts: 0 });
    expect(receiver.received).toEqual([]);

    await notifier.channels().updateOne({ _id: channel.id }, { $set: { keyId: 'a' } });
    // The lease of the failed attempt has expired.
    clock.now += 10_000;
    expect(await notifier.outcome(sent)).toMatchObject({ status: 'delivered', attempts: 1 });
  });

  it('has a link without the workspace while identity can not be asked', async () => {
    const receiver = await notifier.receiver();
    const tenantId = newTenant();
    const [webhook, chat] = [
      await notifier.addChannel(tenantId, receiver.url),
      await notifier.addChannel(tenantId, receiver.url, { type: 'chat' }),
    ];
    notifier.identity.state.down = true;
    const sent = await notifier.notify(webhook);
    await notifier.outcome(sent);
    await notifier.outcome(await notifier.notify(chat));
    notifier.identity.state.down = false;
    expect(receiver.received[0]!.json.data['url']).toBe(`${PUBLIC_URL}/api/v1/alerts/${sent.alert.id}`);
    expect(receiver.received[1]!.body).toContain(`<${PUBLIC_URL}/|Open`);
  });

  it('is not delayed by a record that can not be read', async () => {
    const receiver = await notifier.receiver();
    const channel = await notifier.addChannel(newTenant(), receiver.url);
    await notifier.appendValues(
      ['not json', '{"v":2}', 'null'].map((text) => ({ key: channel.id, value: Buffer.from(text) })),
    );
    expect(await notifier.outcome(await notifier.notify(channel))).toMatchObject({ status: 'delivered' });
    const dead = notifier.logs.lines().filter((line) => String(line['msg']).startsWith('record set aside'));
    expect(dead).toHaveLength(3);
  });

  it('leaves neither URL, address, secret nor body in the log', async () => {
    const receiver = await notifier.receiver();
    receiver.answers.push(status(500), drop);
    const url = receiver.url.replace('/hook', '/T000/B000/very-secret-path');
    const channel = await notifier.addChannel(newTenant(), url, { type: 'chat' });
    const alert = alertRecord({ rule_name: 'very-secret-rule' });
    const sent = await notifier.notify(channel, { alert });
    clock.now = Date.parse((await notifier.outcome(sent)).nextAttemptAt!);
    await notifier.outcome(sent, 2);
    const text = notifier.logs.text();
    expect(text).toContain(sent.notificationId);
    for (const secret of ['very-secret', 'hooks.test', SECRET]) expect(text).not.toContain(secret);
  });

  it('shows in the metrics', async () => {
    const text = await notifier.metricsText();
    expect(text).toMatch(/notifier_deliveries_total{channel_type="webhook",outcome="delivered",.*} [1-9]/);
    expect(text).toMatch(/notifier_deliveries_total{channel_type="chat",outcome="failed",.*} [1-9]/);
    expect(text).toMatch(/notifier_attempt_duration_seconds_count{.*channel_type="webhook".*} [1-9]/);
    expect(text).toMatch(/notifier_event_to_delivery_seconds_count{.*channel_type="webhook".*} [1-9]/);
  });
});

describe('the queue', () => {
  const notifier = useNotifier(useMongo());

  it('shows in the metrics, its depth and the age of the oldest in it as they are now', async () => {
    const shown = async () => (await notifier.metricsText()).match(/(?<=^notifier_(queue|oldest).*} ).*/gm);
    expect(await shown()).toEqual(['0', '0']);
    const channel = await notifier.addChannel(newTenant(), (await notifier.receiver(status(500))).url);
    const sent = [await notifier.notify(channel), await notifier.notify(channel)];
    for (const each of sent) await notifier.outcome(each);
    notifier.clock.now += 4000;
    expect(await shown()).toEqual(['2', '4']);
  });
});
