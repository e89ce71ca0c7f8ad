import { describe, expect, it } from '@jest/globals';
import type { TenantId } from '@tollkeeper/kernel';
import { eventually, useMongo } from '@tollkeeper/testing';
import { Webhook } from 'standardwebhooks';
import { MAX_CHANNELS } from '../src/channels/channel.ts';
import { type Body, webhookBody } from './channel.api.ts';
import { newTenant } from './notification.builder.ts';
import { KEY_A, KEY_B, useNotifier } from './notifier.stack.ts';
import type { Receiver } from './receiver.ts';

const stack = useNotifier(useMongo(), { environment: { DESTINATION_ALLOW_CIDRS: '10.1.0.0/16,127.0.0.1/32' } });
const { call, createChannel, expecting } = stack;

const CHAT_URL = 'https://hooks.slack.example/services/T000/B000/secretsecret';
const chatBody = { channel_type: 'chat', name: 'Ops', config: { webhook_url: CHAT_URL } };
const pathsOf = (body: unknown) => (body as { details: { path: string }[] }).details.map(({ path }) => path);
/** Tests the channel and returns the request that the receiver got. */
async function sentBy(tenantId: TenantId, id: string, receiver: Receiver) {
  await expecting(200, 'post', tenantId, `/${id}/test`);
  return receiver.received.at(-1)!;
}

describe('creating a channel', () => {
  it('answers a webhook with its URL in full and without its secret', async () => {
    const tenantId = newTenant();
    const config = { url: 'https://hooks.example.com/in?team=1', signing_secret: 'whsec_c2VjcmV0c2VjcmV0c2VjcmV0' };

    const channel = await createChannel(tenantId, { config, enabled: false });

    const now = new Date(stack.clock.now).toISOString();
    expect(channel).toEqual({
      id: expect.stringMatching(/^chan_[0-9A-Za-z]{20}$/),
      tenant_id: tenantId,
      name: null,
      channel_type: 'webhook',
      enabled: false,
      config: { url: config.url, signing_secret_set: true },
      created_at: now,
      updated_at: now,
    });
    expect(await expecting(200, 'get', tenantId, `/${channel.id}`)).toEqual(channel);
    expect(await expecting(200, 'get', tenantId, '')).toEqual({ items: [channel] });
  });

  it('answers a chat with the path of its URL masked', async () => {
    const channel = await createChannel(newTenant(), chatBody);
    expect(channel).toMatchObject({
      name: 'Ops',
      enabled: true,
      channel_type: 'chat',
      config: { webhook_url: 'https://hooks.slack.example/***' },
    });
  });

  it('keeps secrets out of answers, logs and the database', async () => {
    const tenantId = newTenant();
    const secret = 'a-signing-secret-nobody-may-see';
    await createChannel(tenantId, { config: { ...webhookBody.config, signing_secret: secret } });
    await createChannel(tenantId, chatBody);
    const answers = JSON.stringify(await expecting(200, 'get', tenantId, ''));
    const stored = JSON.stringify(await stack.channels().find({ tenantId }).toArray());
    for (const text of [answers, stored, stack.logs.text()]) {
      for (const hidden of [secret, 'secretsecret', Buffer.from(secret).toString('base64')]) {
        expect(text).not.toContain(hidden);
      }
    }
    expect(stored).not.toContain('example.com');
  });

  it.each(['sixteen-bytes!!!', 'ünïcödé-tëxt', `whsec_${Buffer.alloc(16).toString('base64')}`])(
    'takes a secret of 16 bytes: %s',
    async (signing_secret) => {
      const channel = await createChannel(newTenant(), { config: { ...webhookBody.config, signing_secret } });
      expect(channel).toMatchObject({ config: { signing_secret_set: true } });
    },
  );

  it('says what a secret takes that is too short', async () => {
    const body = { ...webhookBody, config: { ...webhookBody.config, signing_secret: 'short' } };
    const { details } = (await expecting(400, 'post', newTenant(), '', { body })) as { details: unknown };
    const message = 'must have at least 16 bytes, for example whsec_ followed by the base64 of 24 random bytes';
    expect(details).toEqual([{ path: 'config.signing_secret', message }]);
  });

  const url = (text: unknown): Body => ({ config: { url: text } });
  it.each<[string, Body, string[]]>([
    ['plain http', url('http://hooks.example.com/in'), ['config.url']],
    ['no URL', url('hooks.example.com'), ['config.url']],
    ['a user name', url('https://user@hooks.example.com/'), ['config.url']],
    ['a password', url('https://:pass@hooks.example.com/'), ['config.url']],
    ['a fragment', url('https://hooks.example.com/#x'), ['config.url']],
    ['an empty fragment', url('https://hooks.example.com/#'), ['config.url']],
    ['loopback', url('https://127.0.0.2/'), ['config.url']],
    ['loopback in hexadecimal', url('https://0x7f000002/'), ['config.url']],
    ['loopback in IPv6', url('https://[::1]/'), ['config.url']],
    ['loopback mapped in IPv6', url('https://[::ffff:127.0.0.2]/'), ['config.url']],
    ['cloud metadata', url('https://169.254.169.254/latest'), ['config.url']],
    ['a private address', url('https://10.2.0.1/'), ['config.url']],
    ['a masked URL', url('https://hooks.example.com/***'), ['config.url']],
    ['a URL over 2048 characters', url(`https://a.example/${'x'.repeat(2040)}`), ['config.url']],
    ['an object for a URL', url({ $gt: '' }), ['config.url']],
    ['no config', { config: undefined }, ['config']],
    ['the config of the other type', { config: { webhook_url: CHAT_URL } }, ['config.url', 'config.webhook_url']],
    ['an unknown type', { channel_type: 'pigeon' }, ['channel_type']],
    ['no type', { channel_type: undefined }, ['channel_type']],
    ['an empty secret', { config: { ...webhookBody.config, signing_secret: '' } }, ['config.signing_secret']],
    [
      'a whsec_ secret that is not base64',
      { config: { ...webhookBody.config, signing_secret: 'whsec_!' } },
      ['config.signing_secret'],
    ],
    ...['fifteen-bytes!!', `whsec_${Buffer.alloc(15).toString('base64')}`].map(
      (signing_secret): [string, Body, string[]] => [
        `a secret of 15 bytes (${signing_secret})`,
        { config: { ...webhookBody.config, signing_secret } },
        ['config.signing_secret'],
      ],
    ),
    [
      'the mark of a set secret',
      { config: { ...webhookBody.config, signing_secret_set: true } },
      ['config.signing_secret_set'],
    ],
    ['an unknown field', { label: 'x' }, ['label']],
  ])('refuses %s', async (_case, changes, paths) => {
    const response = await call('post', newTenant(), '', { body: { ...webhookBody, ...changes } });
    expect(response.status).toBe(400);
    expect(pathsOf(response.body).toSorted()).toEqual(paths.toSorted());
  });

  it('takes an address that the operator has opened', async () => {
    await createChannel(newTenant(), { config: { url: 'https://10.1.2.3:8443/in' } });
  });

  it('refuses one channel more than a workspace may have', async () => {
    const tenantId = newTenant();
    const { id } = await createChannel(tenantId);
    const stored = (await stack.channels().findOne({ _id: id }))!;
    await stack
      .channels()
      .insertMany(Array.from({ length: MAX_CHANNELS - 1 }, (_, index) => ({ ...stored, _id: `${id}${index}` })));
    await expecting(409, 'post', tenantId, '', { body: webhookBody });
  });

  it('refuses those beyond the limit also of many that are created at the same moment', async () => {
    const tenantId = newTenant();
    const create = async (): Promise<number> => {
      const { status } = await call('post', tenantId, '', { body: webhookBody });
      // A busy machine may have no answer in time, whether it has created the channel or not.
      return status >= 500 ? create() : status;
    };
    const statuses = await Promise.all(Array.from({ length: MAX_CHANNELS + 20 }, create));
    expect(new Set(statuses)).toEqual(new Set([201, 409]));
    expect(await stack.channels().countDocuments({ tenantId })).toBe(MAX_CHANNELS);
  });
});

describe('changing a channel', () => {
  it('keeps the secret that a patch does not name, and removes the one that it nulls', async () => {
    const tenantId = newTenant();
    const receiver = await stack.receiver();
    const { id } = await createChannel(tenantId, { config: { url: receiver.url, signing_secret: 'the first secret' } });
    const patch = (body: Body) => expecting(200, 'patch', tenantId, `/${id}`, { body });

    const url = `${receiver.url}/new`;
    const moved = await patch({ name: 'Moved', config: { url } });
    expect(moved).toMatchObject({ name: 'Moved', config: { url, signing_secret_set: true } });
    const { path, headers, body } = await sentBy(tenantId, id, receiver);
    const webhook = new Webhook('the first secret', { format: 'raw' });
    // The clock of the test is stopped, so the library would consider the request too old.
    const signature = webhook.sign(headers['webhook-id']!, new Date(stack.clock.now), body);
    expect([path, headers['webhook-signature']]).toEqual(['/hook/new', signature]);

    expect(await patch({ name: null, config: { signing_secret: null } })).toMatchObject({
      name: null,
      config: { signing_secret_set: false },
    });
    expect((await sentBy(tenantId, id, receiver)).headers).not.toHaveProperty('webhook-signature');
  });

  it('says when it was last changed', async () => {
    const tenantId = newTenant();
    const { id, created_at: createdAt } = await createChannel(tenantId);
    stack.clock.now += 1000;
    const updatedAt = new Date(stack.clock.now).toISOString();
    const changed = await expecting(200, 'patch', tenantId, `/${id}`, { body: { name: 'Renamed' } });
    expect(changed).toMatchObject({ created_at: createdAt, updated_at: updatedAt });
  });

  it('takes no secret of fewer than 16 bytes', async () => {
    const tenantId = newTenant();
    const { id } = await createChannel(tenantId);
    const body = { config: { signing_secret: 'short' } };
    const refused = await expecting(400, 'patch', tenantId, `/${id}`, { body });
    expect(pathsOf(refused)).toEqual(['config.signing_secret']);
  });

  it('changes the type where the patch makes a whole channel of it', async () => {
    const tenantId = newTenant();
    const { id } = await createChannel(tenantId);
    const toChat = { channel_type: 'chat', config: { webhook_url: CHAT_URL } };
    await expecting(400, 'patch', tenantId, `/${id}`, { body: toChat });
    const body = { ...toChat, config: { url: null, webhook_url: CHAT_URL } };
    const chat = await expecting(200, 'patch', tenantId, `/${id}`, { body });
    expect(chat).toMatchObject({ channel_type: 'chat', config: { webhook_url: 'https://hooks.slack.example/***' } });
  });

  it('refuses the masked URL that it was shown, and changes nothing', async () => {
    const tenantId = newTenant();
    const receiver = await stack.receiver();
    const channel = await createChannel(tenantId, { channel_type: 'chat', config: { webhook_url: receiver.url } });
    const body = { enabled: false, config: channel['config'] };
    const response = await call('patch', tenantId, `/${channel.id}`, { body });
    expect([response.status, pathsOf(response.body)]).toEqual([400, ['config.webhook_url']]);
    expect(await expecting(200, 'get', tenantId, `/${channel.id}`)).toEqual(channel);
    expect((await sentBy(tenantId, channel.id, receiver)).path).toBe('/hook');
  });

  it('refuses unknown fields, also to remove them', async () => {
    const tenantId = newTenant();
    const { id } = await createChannel(tenantId);
    for (const body of [{ id: 'x' }, { label: null }, { config: { signing_secret_set: false } }]) {
      await expecting(400, 'patch', tenantId, `/${id}`, { body });
    }
  });
});

describe('what alerts learns', () => {
  it('is each change of what others may know of a channel, and the deletion, in order', async () => {
    const tenantId = newTenant();
    const channel = await stack.addChannel(tenantId, 'https://hooks.example.com/in');
    await stack.patchChannel(channel, { name: 'Only shown' });
    await stack.patchChannel(channel, { enabled: false });
    await stack.patchChannel(channel, { channel_type: 'chat', config: { url: null, webhook_url: CHAT_URL } });
    await stack.deleteChannel(channel);
    await expecting(404, 'get', tenantId, `/${channel.id}`);
    await expecting(404, 'delete', tenantId, `/${channel.id}`);

    const { id } = channel;
    const summary = { id, type: 'webhook', enabled: false, revision: 3 };
    await eventually(() =>
      expect(stack.reportedOf(tenantId)).toEqual([
        { kind: 'channel.changed', tenantId, channel: summary },
        { kind: 'channel.changed', tenantId, channel: { ...summary, type: 'chat', revision: 4 } },
        { kind: 'channel.deleted', tenantId, channelId: id },
      ]),
    );
  });

  it('are the channels that a workspace has, or those of some ids, and nothing of where they lead', async () => {
    const tenantId = newTenant();
    const [chat, hook] = [await createChannel(tenantId, chatBody), await createChannel(tenantId, { enabled: false })];
    const foreign = await createChannel(newTenant());
    const find = async (channelIds: string[]) =>
      (await stack.client().findChannels({ tenantId, channelIds })).channels.toSorted((a, b) => (a.id < b.id ? -1 : 1));
    const summaries = [
      { id: chat.id, type: 'chat', enabled: true, revision: 1 },
      { id: hook.id, type: 'webhook', enabled: false, revision: 1 },
    ].toSorted((a, b) => (a.id < b.id ? -1 : 1));
    expect(await find([])).toEqual(summaries);
    expect(await find([chat.id, hook.id, foreign.id, 'chan_unknown'])).toEqual(summaries);
    expect(await find([foreign.id])).toEqual([]);
  });

  it.each([
    ['no tenant', { tenantId: '' }, 'tenant_id'],
    ['a channel of another shape', { channelIds: ['chan_1', '$'] }, 'channel_ids[1]'],
    ['a channel whose id is too long', { channelIds: ['c'.repeat(129)] }, 'channel_ids[0]'],
    ['more than 1,000 ids', { channelIds: Array.from({ length: 1001 }, () => 'chan_1') }, 'channel_ids'],
  ])('is nothing when it asks with %s: the field is named', async (_case, changes, path) => {
    const asked = stack.client().findChannels({ tenantId: 'ws_1', channelIds: [], ...changes });
    await expect(asked).rejects.toMatchObject({ code: 'invalid_request', details: [{ path }] });
  });
});

describe('channels', () => {
  it('of another workspace do not exist', async () => {
    const { id } = await createChannel(newTenant());
    const tenantId = newTenant();
    await expecting(404, 'get', tenantId, `/${id}`);
    await expecting(404, 'patch', tenantId, `/${id}`, { body: { enabled: false } });
    await expecting(404, 'delete', tenantId, `/${id}`);
    await expecting(404, 'post', tenantId, `/${id}/test`);
  });

  it('are for admins', async () => {
    const tenantId = newTenant();
    await expecting(403, 'get', tenantId, '', { role: 'member' });
    await expecting(403, 'post', tenantId, '/chan_1/test', { role: 'member' });
    await expecting(401, 'get', tenantId, '', { token: null });
  });
});

describe('the audit log', () => {
  it('reports each change and test of a channel, and of a secret only that it changed', async () => {
    const tenantId = newTenant();
    const url = 'https://hooks.example.com/in?token=url-secret';
    const { id } = await createChannel(tenantId, {
      name: 'Ops',
      config: { url, signing_secret: 'first-signing-secret' },
    });
    stack.names.set('other.example.com', () => ['10.2.0.1']);
    const config = { url: 'https://other.example.com/in?token=url-secret-2', signing_secret: 'second-signing-secret' };
    await call('patch', tenantId, `/${id}`, { body: { config } });
    await call('patch', tenantId, `/${id}`, { body: { config } });
    await call('post', tenantId, `/${id}/test`);
    await call('post', tenantId, '/chan_unknown/test');
    for (let again = 0; again < 2; again += 1) await call('delete', tenantId, `/${id}`);
    await createChannel(tenantId);

    const records = await stack.audited(tenantId, 5);
    const target = { type: 'channel', id, name: 'Ops' };
    const changed = (field: string) => ({ field, from: null, to: 'changed' });
    const brief = ({ action, target: of, changes }: (typeof records)[0]) => [action, of, changes];
    expect(records.slice(0, 4).map(brief)).toEqual([
      [
        'channel.create',
        target,
        [
          { field: 'name', from: null, to: 'Ops' },
          { field: 'enabled', from: null, to: true },
          { field: 'channel_type', from: null, to: 'webhook' },
          { field: 'host', from: null, to: 'hooks.example.com' },
          changed('url'),
          changed('signing_secret'),
        ],
      ],
      [
        'channel.update',
        target,
        [
          { field: 'host', from: 'hooks.example.com', to: 'other.example.com' },
          changed('url'),
          changed('signing_secret'),
        ],
      ],
      ['channel.test', target, []],
      [
        'channel.delete',
        target,
        [
          { field: 'name', from: 'Ops', to: null },
          { field: 'enabled', from: true, to: null },
          { field: 'channel_type', from: 'webhook', to: null },
          { field: 'host', from: 'other.example.com', to: null },
          changed('url'),
          changed('signing_secret'),
        ],
      ],
    ]);
    expect(records[4]!.action).toBe('channel.create');
    for (const secret of ['url-secret', 'signing-secret']) expect(JSON.stringify(records)).not.toContain(secret);
  });
});

describe('the encryption keys', () => {
  it('rotate: the first key encrypts, all of them decrypt', async () => {
    const tenantId = newTenant();
    const receiver = await stack.receiver();
    const old = await stack.addChannel(tenantId, receiver.url);
    await stack.restart({ CHANNEL_ENCRYPTION_KEYS: `${KEY_B},${KEY_A}` });
    const fresh = await stack.addChannel(tenantId, receiver.url);
    for (const { id } of [old, fresh]) expect((await sentBy(tenantId, id, receiver)).path).toBe('/hook');
    await stack.patchChannel(old, { name: 'Sealed again' });
    const stored = await stack.channels().find({ tenantId }).toArray();
    expect(stored.map(({ keyId }) => keyId)).toEqual(['b', 'b']);
  });

  it('keep the service from starting, with the way out, when one is missing', async () => {
    await createChannel(newTenant(), chatBody);
    await stack.stop();
    await expect(
      stack.start({ CHANNEL_ENCRYPTION_KEYS: `c:${Buffer.alloc(32, 3).toString('base64')}` }),
    ).rejects.toThrow(/encrypted with the key "[ab]", which CHANNEL_ENCRYPTION_KEYS does not list/);
    await stack.start({ CHANNEL_ENCRYPTION_KEYS: `${KEY_B},${KEY_A}` });
  });

  it('do not open a secret that was moved to another channel', async () => {
    const tenantId = newTenant();
    const [from, to] = [await createChannel(tenantId, chatBody), await createChannel(tenantId, chatBody)];
    const { keyId, iv, data } = (await stack.channels().findOne({ _id: from.id }))!;
    await stack.channels().updateOne({ _id: to.id }, { $set: { keyId, iv, data } });
    expect((await call('get', tenantId, `/${to.id}`)).status).toBe(500);
  });
});
