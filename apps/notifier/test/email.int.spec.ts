import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { NotificationRecord } from '@tollkeeper/contracts';
import { newId, type TenantId } from '@tollkeeper/kernel';
import { eventually, useMongo } from '@tollkeeper/testing';
import { type MailServer, type ReceivedMail, startMailServer, tokenIn } from '@tollkeeper/testing/mail-server';
import { MAX_TO_ADDRESS } from '../src/channels/email/mail.limits.ts';
import type { TestChannel } from './channel.api.ts';
import { alertRecord, newTenant, NOW, notification } from './notification.builder.ts';
import { PUBLIC_URL, useNotifier } from './notifier.stack.ts';

const mongo = useMongo();
const environment: NodeJS.ProcessEnv = { MAIL_FROM: 'tollkeeper@example.com' };
let server: MailServer;
beforeAll(async () => {
  server = await startMailServer();
  environment['SMTP_URL'] = `smtp://127.0.0.1:${server.port}?tls=none`;
});
const notifier = useNotifier(mongo, { environment });
afterAll(() => server.stop());
const { clock } = notifier;
const WEEK_MS = 7 * 86_400_000;

const newAddress = () => `${newId('user').slice(5).toLowerCase()}@people.example.com`;
const ofAlerts = (address: string) => server.to(address).filter(({ headers }) => headers.includes('List-Unsubscribe:'));
const mailTo = (address: string, count = 1): Promise<ReceivedMail> =>
  eventually(() => {
    expect(server.to(address)).toHaveLength(count);
    return server.to(address)[count - 1]!;
  });

async function channelTo(addresses: string[], tenantId: TenantId = newTenant()): Promise<TestChannel> {
  const { id } = await notifier.createChannel(tenantId, { channel_type: 'email', config: { addresses } });
  return { tenantId, id, type: 'email' };
}

const confirm = async (address: string, count = 1) => {
  const answer = await notifier.link(tokenIn(await mailTo(address, count)), 'confirm');
  expect(answer.status).toBe(200);
};

/** A channel with readers who have confirmed. */
async function confirmed(...addresses: string[]): Promise<TestChannel> {
  const channel = await channelTo(addresses);
  for (const address of addresses) await confirm(address);
  return channel;
}

async function statesOf({ tenantId, id }: TestChannel): Promise<string[]> {
  const { config } = (await notifier.expecting(200, 'get', tenantId, `/${id}`)) as {
    config: { addresses: string[]; confirmations: { address: string; state: string }[] };
  };
  expect(config.confirmations.map(({ address }) => address)).toEqual(config.addresses);
  return config.confirmations.map(({ state }) => state);
}

const ask = ({ tenantId, id }: TestChannel, address: string) =>
  notifier.call('post', tenantId, `/${id}/confirmations`, { body: { address } });

const allOrdersAreDone = () =>
  eventually(async () => {
    const orders = mongo.connection.useDb(notifier.database).collection('channel_readers');
    expect(await orders.countDocuments({ dueAt: { $exists: true } })).toBe(0);
  });

describe('an address of a channel', () => {
  it('gets one mail that asks, no alert before it is confirmed by its link, and then alerts', async () => {
    const address = newAddress();
    const channel = await channelTo([address]);
    const asking = await mailTo(address);
    expect(asking.text).toContain('The Tollkeeper workspace demo wants to send its alerts to this address.');
    expect(asking.text).toContain(`${PUBLIC_URL}/alert-mail#tk_mailconfirm_`);
    const early = await notifier.outcome(await notifier.notify(channel));
    expect(early).toMatchObject({
      status: 'failed',
      error: expect.stringContaining('No address of the channel is confirmed.'),
    });

    await confirm(address);
    const sent = await notifier.notify(channel);
    expect(await notifier.outcome(sent)).toMatchObject({
      channelType: 'email',
      status: 'delivered',
      responseStatus: 250,
    });
    expect(server.to(address)).toHaveLength(2);
    expect(ofAlerts(address)[0]!.text).toContain(`${PUBLIC_URL}/w/demo/alerts?alert=${sent.alert.id}`);
  });

  it('is not confirmed by a scanner that only opens the link, and the link works once', async () => {
    const address = newAddress();
    const channel = await channelTo([address]);
    const token = tokenIn(await mailTo(address));
    for (let again = 0; again < 2; again += 1) {
      const { status, body } = await notifier.link(token);
      expect([status, body]).toEqual([
        200,
        { purpose: 'confirm', address, workspace: 'demo', channel_name: null, answer: 'none' },
      ]);
    }
    expect(await statesOf(channel)).toEqual(['asked']);
    expect((await notifier.link(token, 'confirm')).body).toMatchObject({ answer: 'confirmed' });
    expect(await statesOf(channel)).toEqual(['confirmed']);
    for (const used of [
      await notifier.link(token),
      await notifier.link(token, 'confirm'),
      await notifier.link(token, 'stop'),
    ]) {
      expect([used.status, used.body]).toEqual([404, expect.objectContaining({ code: 'not_found' })]);
    }
  });

  it('is confirmed by one of several clicks at the same time', async () => {
    const address = newAddress();
    await channelTo([address]);
    const token = tokenIn(await mailTo(address));
    const answers = await Promise.all([1, 2, 3].map(() => notifier.link(token, 'confirm')));
    expect(answers.map(({ status }) => status).sort()).toEqual([200, 404, 404]);
  });

  it('can be asked again; then only the newest link works, for a week', async () => {
    const address = newAddress();
    const channel = await channelTo([address]);
    const first = tokenIn(await mailTo(address));
    const again = await ask(channel, address.toUpperCase());
    expect(again.status).toBe(202);
    const [, asked] = await notifier.audited(channel.tenantId, 2);
    expect(asked).toMatchObject({ action: 'channel.ask', changes: [{ field: `address ${address}`, to: 'asked' }] });
    const second = tokenIn(await mailTo(address, 2));
    expect((await notifier.link(first, 'confirm')).status).toBe(404);
    clock.now += WEEK_MS;
    expect((await notifier.link(second, 'confirm')).status).toBe(404);
    expect(await statesOf(channel)).toEqual(['expired']);
    clock.now = NOW;
    expect((await notifier.link(second, 'confirm')).status).toBe(200);
    const late = await ask(channel, address);
    expect([late.status, late.body]).toEqual([409, expect.objectContaining({ code: 'conflict' })]);
  });

  it('of a channel of another workspace, or of none, cannot be asked', async () => {
    const address = newAddress();
    const channel = await channelTo([address]);
    await mailTo(address);
    expect((await ask({ ...channel, tenantId: newTenant() }, address)).status).toBe(404);
    expect((await ask(channel, newAddress())).status).toBe(404);
    expect(server.to(address)).toHaveLength(1);
  });

  it('gets few mails that it never asked for, however many workspaces name it', async () => {
    const address = newAddress();
    for (let count = 1; count <= MAX_TO_ADDRESS; count += 1) {
      await channelTo([address]);
      await mailTo(address, count);
    }
    const next = await channelTo([address]);
    await eventually(async () => expect(await statesOf(next)).toEqual(['unsent']));
    await ask(next, address);
    await allOrdersAreDone();
    expect(await statesOf(next)).toEqual(['unsent']);
    expect(server.to(address)).toHaveLength(MAX_TO_ADDRESS);
  });

  it('whose reader declines gets nothing any more, also when it is removed and added again', async () => {
    const [address, other] = [newAddress(), newAddress()];
    const channel = await channelTo([address, other]);
    expect((await notifier.link(tokenIn(await mailTo(address)), 'stop')).body).toMatchObject({ answer: 'stopped' });
    await notifier.patchChannel(channel, { config: { addresses: [other] } });
    await notifier.patchChannel(channel, { config: { addresses: [other, address] } });
    await allOrdersAreDone();
    expect(await statesOf(channel)).toEqual(['asked', 'stopped']);
    expect((await ask(channel, address)).body).toMatchObject({
      error: expect.stringContaining('Only the reader can change that'),
    });
    expect(server.to(address)).toHaveLength(1);
  });

  it('that is removed needs a new confirmation, and its old link is void', async () => {
    const [address, other] = [newAddress(), newAddress()];
    const channel = await confirmed(address, other);
    await notifier.patchChannel(channel, { config: { addresses: [other] } });
    await notifier.patchChannel(channel, { config: { addresses: [other, address] } });
    await mailTo(address, 2);
    expect(await statesOf(channel)).toEqual(['confirmed', 'asked']);
    const token = tokenIn(await mailTo(address, 2));
    await notifier.deleteChannel(channel);
    expect((await notifier.link(token, 'confirm')).status).toBe(404);
  });

  it('is asked once the mail server accepts mail again, also after a restart', async () => {
    const address = newAddress();
    const failures = () => notifier.logs.lines().filter(({ msg }) => msg === 'an e-mail could not be sent; retrying');
    const before = failures().length;
    server.behave('is busy');
    const channel = await channelTo([address]);
    await eventually(() => expect(failures().length).toBeGreaterThan(before));
    expect(await statesOf(channel)).toEqual(['queued']);
    await notifier.restart();
    server.behave('takes');
    clock.now += 10_000;
    await mailTo(address);
    clock.now = NOW;
    await confirm(address);
  });
});

describe('the reader of an alert mail', () => {
  const stopUrlOf = ({ headers }: ReceivedMail) => /List-Unsubscribe: <([^>]+)>/.exec(headers)![1]!;

  it('stops them without an account, by the page or the mail program, and may start them again', async () => {
    const [ada, eve] = [newAddress(), newAddress()];
    const channel = await confirmed(ada, eve);
    await notifier.outcome(await notifier.notify(channel));
    const mail = ofAlerts(ada)[0]!;
    const token = tokenIn(mail);
    expect(stopUrlOf(mail)).toBe(`${PUBLIC_URL}/api/v1/alert-mails/${token}:stop`);
    expect(mail.headers).toContain('List-Unsubscribe-Post: List-Unsubscribe=One-Click');
    expect((await notifier.link(token)).body).toMatchObject({ purpose: 'stop', address: ada, answer: 'confirmed' });
    expect((await notifier.link(token, 'stop')).body).toMatchObject({ answer: 'stopped' });

    await notifier.outcome(await notifier.notify(channel));
    expect([ofAlerts(ada).length, ofAlerts(eve).length]).toEqual([1, 2]);
    expect(await statesOf(channel)).toEqual(['stopped', 'confirmed']);
    expect((await notifier.link(token, 'confirm')).body).toMatchObject({ answer: 'confirmed' });
    await notifier.outcome(await notifier.notify(channel));
    expect(ofAlerts(ada)).toHaveLength(2);
  });

  it('is in the audit log with what was answered, and in no log with a token or an address', async () => {
    const address = newAddress();
    const channel = await confirmed(address);
    await notifier.outcome(await notifier.notify(channel));
    const token = tokenIn(ofAlerts(address)[0]);
    await notifier.link(token, 'stop');
    const records = await notifier.audited(channel.tenantId, 3);
    const field = `address ${address}`;
    expect(records.slice(1)).toMatchObject([
      { action: 'channel.confirm', actor: { type: 'system' }, changes: [{ field, from: 'none', to: 'confirmed' }] },
      { action: 'channel.stop', target: { id: channel.id }, changes: [{ field, from: 'confirmed', to: 'stopped' }] },
    ]);
    const asked = tokenIn(server.to(address)[0]);
    const stored = JSON.stringify(
      await mongo.connection.useDb(notifier.database).collection('channel_readers').find().toArray(),
    );
    for (const text of [notifier.logs.text(), stored]) {
      expect([token, asked, address].filter((secret) => text.includes(secret.slice(-25)))).toEqual([]);
    }
  });
});

describe('a notification by mail', () => {
  const lifeOf = ({ tenantId, id: channelId, type: channelType }: TestChannel): NotificationRecord[] => {
    const alert = alertRecord({ tenant_id: tenantId });
    const resolved = { ...alert, status: 'resolved', resolved_at: alert.triggered_at } as const;
    const of = { tenantId, channelId, channelType };
    return [notification({ ...of, alert }), notification({ ...of, type: 'alert.resolved', alert: resolved })];
  };

  it('is in the thread of its alert', async () => {
    const address = newAddress();
    const life = lifeOf(await confirmed(address));
    await notifier.append(life);
    for (const sent of life) expect(await notifier.outcome(sent)).toMatchObject({ status: 'delivered' });
    const [fired, resolved] = ofAlerts(address).map(({ headers }) => headers) as [string, string];
    const [, id] = /^Message-ID: (<.+>)$/m.exec(fired)!;
    expect(fired).toMatch(/^Subject: Alert \(high\): Budget blocks$/m);
    expect(resolved).toMatch(/^Subject: Re: Alert \(high\): Budget blocks$/m);
    expect(resolved).toContain(`\r\nReferences: ${id}`);
    expect(resolved).toContain(`\r\nIn-Reply-To: ${id}`);
  });

  it('is repeated for the address that the mail server was busy for, and for no other', async () => {
    const addresses = [newAddress(), newAddress(), newAddress()];
    const [ada, busy, eve] = addresses as [string, string, string];
    const channel = await confirmed(...addresses);
    server.moods.set(busy, 'is busy');
    const sent = await notifier.notify(channel);
    const first = await notifier.outcome(sent);
    expect(first).toMatchObject({
      status: 'retrying',
      error: expect.stringMatching(/for 1 of 3 addresses: EENVELOPE 451\.$/),
    });
    server.moods.delete(busy);
    clock.now = Date.parse(first.nextAttemptAt!);
    expect(await notifier.outcome(sent, 2)).toMatchObject({ status: 'delivered' });
    clock.now = NOW;
    expect([ada, busy, eve].map((address) => ofAlerts(address).length)).toEqual([1, 1, 1]);
  });

  it('fails with the number of addresses that the mail server rejects; the others get it once', async () => {
    const [gone, ada] = [newAddress(), newAddress()];
    const channel = await confirmed(gone, ada);
    server.moods.set(gone, 'refuses');
    const sent = await notifier.notify(channel);
    const error = expect.stringContaining('rejected 1 of 2 addresses permanently');
    expect(await notifier.outcome(sent)).toMatchObject({ status: 'failed', attempts: 1, error });
    expect([gone, ada].map((address) => ofAlerts(address).length)).toEqual([0, 1]);
  });

  it('waits for a mail server that hangs without stopping other channels, and arrives later', async () => {
    const address = newAddress();
    const channel = await confirmed(address);
    const receiver = await notifier.receiver();
    const webhook = await notifier.addChannel(newTenant(), receiver.url);
    server.behave('hangs');
    const sent = await notifier.notify(channel);
    await eventually(() => expect(server.open()).toBe(1));
    await notifier.outcome(await notifier.notify(webhook));
    expect(notifier.outcomesOf(sent)).toEqual([]);
    server.behave('takes');
    const { status, nextAttemptAt } = await notifier.outcome(sent);
    expect(status).toBe('retrying');
    clock.now = Date.parse(nextAttemptAt!);
    expect(await notifier.outcome(sent, 2)).toMatchObject({ status: 'delivered' });
    clock.now = NOW;
    expect(ofAlerts(address)).toHaveLength(1);
  });

  it('as a test says what the mail server said, or that nobody has confirmed', async () => {
    const address = newAddress();
    const channel = await channelTo([address]);
    const test = () => notifier.call('post', channel.tenantId, `/${channel.id}/test`);
    const refused = await test();
    expect([refused.status, refused.body]).toEqual([
      502,
      expect.objectContaining({
        code: 'destination_blocked',
        error: expect.stringContaining('No address of the channel is confirmed.'),
      }),
    ]);
    await confirm(address);
    expect((await test()).body).toEqual({ ResponseStatus: 250, ResponseSnippet: 'Mail sent to 1 of the addresses' });
    expect(ofAlerts(address)[0]!.headers).toMatch(/^Subject: Test \(info\): Test of this channel$/m);
  });
});

describe('creating a channel of the type email', () => {
  it.each<[what: string, addresses: unknown]>([
    ['no address', []],
    ['more than 20', Array.from({ length: 21 }, newAddress)],
    ['an address twice', ['ada@example.com', 'Ada@Example.com']],
    ['no address in the text', ['Ada']],
    ['a name beside the address', ['Ada <ada@example.com>']],
    ['a second header', ['ada@example.com\r\nBcc: eve@example.com']],
    ['a second receiver', ['ada@example.com,eve@example.com']],
    ['an address that is too long', [`${'a'.repeat(250)}@example.com`]],
  ])('with %s is refused, and the field is named', async (_what, addresses) => {
    const body = { channel_type: 'email', config: { addresses } };
    const refused = await notifier.expecting(400, 'post', newTenant(), '', { body });
    expect(refused['details']).toMatchObject([{ path: expect.stringMatching(/^config\.addresses/) }]);
  });

  it('without a mail server is refused with the settings that are missing, and mail fails with the same', async () => {
    const address = newAddress();
    const channel = await confirmed(address);
    await notifier.restart({ SMTP_URL: '' });
    const body = { channel_type: 'email', config: { addresses: [newAddress()] } };
    const refused = await notifier.expecting(400, 'post', newTenant(), '', { body });
    expect(refused).toMatchObject({ error: expect.stringContaining('set SMTP_URL and MAIL_FROM of the notifier') });
    const failed = await notifier.outcome(await notifier.notify(channel));
    expect(failed).toMatchObject({ status: 'failed', error: expect.stringContaining('SMTP_URL and MAIL_FROM') });
    await notifier.restart();
  });
});
