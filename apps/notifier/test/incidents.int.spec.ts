import { describe, expect, it } from '@jest/globals';
import type { NotificationRecord } from '@tollkeeper/contracts';
import { useMongo } from '@tollkeeper/testing';
import { API_KEY, ROUTING_KEY, type TestChannel } from './channel.api.ts';
import { alertRecord, newTenant, NOW, notification } from './notification.builder.ts';
import { PUBLIC_URL, useNotifier } from './notifier.stack.ts';
import { opsgenieAlert, opsgenieNote, pagerdutyEvent, teamsMessage } from './published.schemas.ts';
import { type Answer, type Received, status } from './receiver.ts';

const accepted = status(202);
const at = new Date(NOW).toISOString();
const TOOLS = ['pagerduty', 'opsgenie'] as const;

const notifier = useNotifier(useMongo());
const { clock } = notifier;

/** The notifications of an alert that fires, is acknowledged and is resolved. */
function lifeOf({ tenantId, id: channelId, type: channelType }: TestChannel): NotificationRecord[] {
  const firing = alertRecord({ tenant_id: tenantId });
  const acknowledged = { ...firing, status: 'acknowledged', acknowledged_at: at, acknowledged_by: 'user_1' } as const;
  const resolved = { ...acknowledged, status: 'resolved', resolved_at: at } as const;
  const sent = { tenantId, channelId, channelType };
  return [
    notification({ ...sent, type: 'alert.fired', alert: firing }),
    notification({ ...sent, type: 'alert.acknowledged', alert: acknowledged }),
    notification({ ...sent, type: 'alert.resolved', alert: resolved }),
  ];
}

async function channelOf(type: TestChannel['type'], answer: Answer = accepted) {
  const receiver = await notifier.receiver(answer);
  return { receiver, channel: await notifier.addChannel(newTenant(), receiver.url, { type }) };
}

/** The part of a request that names the incident, and what is done to it. */
const OF_INCIDENT = {
  pagerduty({ body }: Received): [action: string, incident: string] {
    const event = pagerdutyEvent.parse(JSON.parse(body));
    return [event.event_action, event.dedup_key];
  },
  opsgenie({ path, body }: Received): [action: string, incident: string] {
    if (path === '/hook') return ['trigger', opsgenieAlert.parse(JSON.parse(body)).alias!];
    const [, alias = '', action = ''] = /^\/hook\/([^/]+)\/(acknowledge|close)\?identifierType=alias$/.exec(path) ?? [];
    opsgenieNote.parse(JSON.parse(body));
    return [action === 'close' ? 'resolve' : action, alias];
  },
};

describe.each(TOOLS)('a channel of the type %s', (type) => {
  it('opens, acknowledges and resolves one incident, in the published format', async () => {
    const { receiver, channel } = await channelOf(type);
    const life = lifeOf(channel);
    await notifier.append(life);

    for (const sent of life) {
      expect(await notifier.outcome(sent)).toMatchObject({
        channelType: type,
        status: 'delivered',
        responseStatus: 202,
      });
    }
    const incident = life[0]!.alert.id;
    expect(receiver.received.map(OF_INCIDENT[type])).toEqual([
      ['trigger', incident],
      ['acknowledge', incident],
      ['resolve', incident],
    ]);
  });

  it('gets an acknowledgement and a resolution only after the alert, however often that is retried', async () => {
    const { receiver, channel } = await channelOf(type);
    receiver.answers.push(status(500), status(429));
    const life = lifeOf(channel);
    await notifier.append(life);
    for (const attempts of [1, 2]) {
      const { nextAttemptAt } = await notifier.outcome(life[0]!, attempts);
      clock.now = Date.parse(nextAttemptAt!);
    }
    await notifier.outcome(life[0]!, 3);
    // A waiting notification is looked at again when the one before it was due.
    clock.now += 1000;
    for (const sent of life) expect(await notifier.outcome(sent)).toMatchObject({ status: 'delivered' });
    expect(receiver.received.map((request) => OF_INCIDENT[type](request)[0])).toEqual([
      ...['trigger', 'trigger', 'trigger'],
      ...['acknowledge', 'resolve'],
    ]);
  });

  it('adds what a newer release of alerts reports to the incident', async () => {
    const { receiver, channel } = await channelOf(type);
    const [fired] = lifeOf(channel);
    await notifier.notify(channel, { alert: fired!.alert, type: 'alert.escalated' as 'alert.fired' });
    await notifier.outcome(await notifier.notify(channel));
    expect(receiver.received.map(OF_INCIDENT[type])[0]).toEqual(['trigger', fired!.alert.id]);
  });

  it('opens an incident of its own with each test', async () => {
    const { receiver, channel } = await channelOf(type);
    for (let again = 0; again < 2; again += 1) {
      const { body } = await notifier.call('post', channel.tenantId, `/${channel.id}/test`);
      expect(body).toEqual({ ResponseStatus: 202, ResponseSnippet: 'status 202' });
    }
    const [first, second] = receiver.received.map(OF_INCIDENT[type]);
    expect([first![0], second![0]]).toEqual(['trigger', 'trigger']);
    expect(first![1]).not.toBe(second![1]);
  });

  it('keeps its secret out of answers, the database, logs and reports, also if the destination repeats it', async () => {
    const secret = { pagerduty: ROUTING_KEY, opsgenie: API_KEY }[type];
    // The second answer is cut within the secret.
    const cut = `${'x'.repeat(1024 - 20)}${secret}`;
    const { receiver, channel } = await channelOf(type);
    receiver.answers.push(
      status(400, {}, `bad key ${secret}!`),
      status(400, {}, cut),
      status(400, {}, `again ${secret}`),
    );
    const sent = await notifier.notify(channel);
    const outcomes = [await notifier.outcome(sent), await notifier.outcome(await notifier.notify(channel))];
    const { tenantId, id } = channel;
    const test = await notifier.call('post', tenantId, `/${id}/test`);
    expect(outcomes[0]).toMatchObject({ status: 'failed', responseSnippet: 'bad key ***!' });
    expect(outcomes[1]!.responseSnippet).toBe(`${'x'.repeat(1024 - 20)}***`);
    expect(test.body).toMatchObject({ ResponseSnippet: 'again ***' });

    const request = receiver.received[0]!;
    expect(request.body + request.headers['authorization']).toContain(secret);
    const answers = await notifier.expecting(200, 'get', tenantId, '');
    const stored = [
      await notifier.channels().find({ tenantId }).toArray(),
      await notifier.deliveries().find().toArray(),
    ];
    for (const text of [JSON.stringify(answers), JSON.stringify(stored), notifier.logs.text()]) {
      expect(text).not.toContain(secret.slice(0, 20));
    }
  });

  it('needs the secret again to send to another host, and only then', async () => {
    const { receiver, channel } = await channelOf(type);
    const elsewhere = await notifier.receiver(accepted);
    const { tenantId, id } = channel;
    const field = { pagerduty: 'routing_key', opsgenie: 'api_key' }[type];
    const body = { config: { url: elsewhere.url } };
    const refused = await notifier.expecting(400, 'patch', tenantId, `/${id}`, { body });
    expect(refused).toMatchObject({
      error: expect.stringContaining('Send it again together with the new url.'),
      details: [{ path: `config.${field}` }],
    });
    await notifier.outcome(await notifier.notify(channel));

    await notifier.patchChannel(channel, { config: { url: `${receiver.url}/` } });
    await notifier.outcome(await notifier.notify(channel));
    expect([receiver.received.length, elsewhere.received.length]).toEqual([2, 0]);

    const secret = { pagerduty: ROUTING_KEY, opsgenie: API_KEY }[type];
    await notifier.patchChannel(channel, { config: { url: elsewhere.url, [field]: secret } });
    await notifier.outcome(await notifier.notify(channel));
    expect(elsewhere.received).toHaveLength(1);
  });
});

it('an Opsgenie channel sends its API key in the header that the Alert API reads', async () => {
  const { receiver, channel } = await channelOf('opsgenie');
  await notifier.outcome(await notifier.notify(channel));
  expect(receiver.received[0]!.headers).toMatchObject({ authorization: `GenieKey ${API_KEY}` });
});

it('a Teams channel gets an Adaptive Card with a link for the alert, its resolution and a test', async () => {
  const { receiver, channel } = await channelOf('teams');
  const [fired, , resolved] = lifeOf(channel);
  await notifier.append([fired!, resolved!]);
  for (const sent of [fired!, resolved!]) {
    expect(await notifier.outcome(sent)).toMatchObject({ channelType: 'teams', status: 'delivered' });
  }
  await notifier.expecting(200, 'post', channel.tenantId, `/${channel.id}/test`);

  const cards = receiver.received.map(({ body }) => teamsMessage.parse(JSON.parse(body)).attachments[0].content);
  const headlines = cards.map(({ body: [first] }) => (first?.type === 'RichTextBlock' ? first.inlines[0]?.text : ''));
  expect(headlines).toEqual([
    'Alert (high): Budget blocks',
    'Resolved (high): Budget blocks',
    'Test (info): Test of this channel',
  ]);
  expect(cards[0]!.actions).toContainEqual(
    expect.objectContaining({ url: `${PUBLIC_URL}/w/demo/alerts?alert=${fired!.alert.id}` }),
  );
});

describe('creating a channel', () => {
  it.each([
    ['pagerduty', { routing_key: ROUTING_KEY }, 'https://events.pagerduty.com/v2/enqueue'],
    ['opsgenie', { api_key: API_KEY }, 'https://api.opsgenie.com/v2/alerts'],
  ])('of the type %s needs no url, and answers the one that it uses', async (channel_type, config, url) => {
    const created = await notifier.createChannel(newTenant(), { channel_type, config });
    expect(created).toMatchObject({ channel_type, config: { url } });
    expect(created['config']).toEqual({ url });
  });

  it('of the type teams answers the URL with its path and signature masked', async () => {
    const config = { webhook_url: 'https://prod-1.logic.azure.com/workflows/1/invoke?sig=s3cret' };
    const created = await notifier.createChannel(newTenant(), { channel_type: 'teams', config });
    expect(created['config']).toEqual({ webhook_url: 'https://prod-1.logic.azure.com/***' });
  });

  const routing_key = ROUTING_KEY;
  const api_key = API_KEY;
  it.each<[type: string, what: string, config: object, path: string]>([
    ['pagerduty', 'no key', {}, 'config.routing_key'],
    ['pagerduty', 'a key that is too short', { routing_key: ROUTING_KEY.slice(1) }, 'config.routing_key'],
    ['pagerduty', 'a key with a line break', { routing_key: `${ROUTING_KEY}\n` }, 'config.routing_key'],
    ['pagerduty', 'the key of another type', { routing_key, api_key }, 'config.api_key'],
    ['pagerduty', 'a private address', { routing_key, url: 'https://10.0.0.1/' }, 'config.url'],
    ['pagerduty', 'plain http', { routing_key, url: 'http://events.pagerduty.com/v2/enqueue' }, 'config.url'],
    ['opsgenie', 'no key', {}, 'config.api_key'],
    ['opsgenie', 'a key that is too long', { api_key: 'k'.repeat(129) }, 'config.api_key'],
    ['opsgenie', 'a key with another header', { api_key: `${API_KEY}\r\nx: y` }, 'config.api_key'],
    ['opsgenie', 'the address of cloud metadata', { api_key, url: 'https://169.254.169.254/latest' }, 'config.url'],
    ['teams', 'loopback', { webhook_url: 'https://[::1]/' }, 'config.webhook_url'],
    ['teams', 'no URL', {}, 'config.webhook_url'],
  ])('of the type %s with %s is refused, and the field is named', async (channel_type, _case, config, path) => {
    const refused = await notifier.expecting(400, 'post', newTenant(), '', { body: { channel_type, config } });
    expect(refused['details']).toMatchObject([{ path }]);
  });

  it.each(['pagerduty', 'opsgenie', 'teams'] as const)(
    'of the type %s does not let its name lead to a private address',
    async (type) => {
      notifier.names.set(`${type}.test`, () => ['10.0.0.1']);
      const channel = await notifier.addChannel(newTenant(), `https://${type}.test/`, { type });
      const refused = await notifier.call('post', channel.tenantId, `/${channel.id}/test`);
      expect([refused.status, refused.body]).toEqual([502, expect.objectContaining({ code: 'destination_blocked' })]);
      const failed = await notifier.outcome(await notifier.notify(channel));
      expect(failed).toMatchObject({ status: 'failed', responseStatus: null });
    },
  );

  it('reports of a secret only that it changed to the audit log', async () => {
    const tenantId = newTenant();
    await notifier.createChannel(tenantId, { channel_type: 'pagerduty', config: { routing_key: ROUTING_KEY } });
    const [created] = await notifier.audited(tenantId, 1);
    const { changes } = created!;
    expect(changes).toContainEqual({ field: 'routing_key', from: null, to: 'changed' });
    expect(changes).toContainEqual({ field: 'host', from: null, to: 'events.pagerduty.com' });
    expect(JSON.stringify(changes)).not.toContain(ROUTING_KEY);
  });
});
