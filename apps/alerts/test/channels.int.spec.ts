import { describe, expect, it } from '@jest/globals';
import { AppError } from '@tollkeeper/kernel';
import { useMongo } from '@tollkeeper/testing';
import { MAX_CHANNELS } from '../src/domain/channel.ts';
import { type Body, KEY_A, KEY_B, newTenant, ruleBody, useAlerts, webhookBody } from './alerts.stack.ts';

const mongo = useMongo();
const stack = useAlerts(mongo, { DESTINATION_ALLOW_CIDRS: '10.1.0.0/16' });
const { call, createChannel, createRule, expecting } = stack;

const CHAT_URL = 'https://hooks.slack.example/services/T000/B000/secretsecret';
const chatBody = { channel_type: 'chat', name: 'Ops', config: { webhook_url: CHAT_URL } };
const pathsOf = (body: unknown) => (body as { details: { path: string }[] }).details.map(({ path }) => path);
const storedChannels = () => mongo.connection.useDb(stack.database).collection('channels');

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
    expect(await expecting(200, 'get', tenantId, `/channels/${channel.id}`)).toEqual(channel);
    expect(await expecting(200, 'get', tenantId, '/channels')).toEqual({ items: [channel] });
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
    const answers = JSON.stringify(await expecting(200, 'get', tenantId, '/channels'));
    const stored = JSON.stringify(await storedChannels().find({ tenantId }).toArray());
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
    const { details } = (await expecting(400, 'post', newTenant(), '/channels', { body })) as { details: unknown };
    const message = 'must have at least 16 bytes, such as whsec_ and the base64 of 24 random bytes';
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
    ['loopback', url('https://127.0.0.1/'), ['config.url']],
    ['loopback in hexadecimal', url('https://0x7f000001/'), ['config.url']],
    ['loopback in IPv6', url('https://[::1]/'), ['config.url']],
    ['loopback mapped in IPv6', url('https://[::ffff:127.0.0.1]/'), ['config.url']],
    ['cloud metadata', url('https://169.254.169.254/latest'), ['config.url']],
    ['a private address', url('https://10.2.0.1/'), ['config.url']],
    ['a masked URL', url('https://hooks.example.com/***'), ['config.url']],
    ['a URL over 2048 characters', url(`https://a.example/${'x'.repeat(2040)}`), ['config.url']],
    ['an object for a URL', url({ $gt: '' }), ['config.url']],
    ['no config', { config: undefined }, ['config']],
    ['the config of the other type', { config: { webhook_url: CHAT_URL } }, ['config.url', 'config.webhook_url']],
    ['an unknown type', { channel_type: 'email' }, ['channel_type']],
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
    const response = await call('post', newTenant(), '/channels', { body: { ...webhookBody, ...changes } });
    expect(response.status).toBe(400);
    expect(pathsOf(response.body).toSorted()).toEqual(paths.toSorted());
  });

  it('takes an address that the operator has opened', async () => {
    await createChannel(newTenant(), { config: { url: 'https://10.1.2.3:8443/in' } });
  });

  it('refuses one channel more than a workspace may have', async () => {
    const tenantId = newTenant();
    const { id } = await createChannel(tenantId);
    const stored = (await storedChannels().findOne({ _id: id as never }))!;
    await storedChannels().insertMany(
      Array.from({ length: MAX_CHANNELS - 1 }, (_, index) => ({ ...stored, _id: `${id}${index}` as never })),
    );
    await expecting(409, 'post', tenantId, '/channels', { body: webhookBody });
  });
});

describe('changing a channel', () => {
  it('keeps the secret that a patch does not name, and removes the one that it nulls', async () => {
    const tenantId = newTenant();
    const { id } = await createChannel(tenantId, {
      config: { ...webhookBody.config, signing_secret: 'the first secret' },
    });
    const patch = (body: Body) => expecting(200, 'patch', tenantId, `/channels/${id}`, { body });

    const moved = await patch({ name: 'Moved', config: { url: 'https://hooks.example.com/new' } });
    expect(moved).toMatchObject({
      name: 'Moved',
      config: { url: 'https://hooks.example.com/new', signing_secret_set: true },
    });
    expect(await stack.getChannel(tenantId, id)).toMatchObject({
      channel: { webhook: { signingSecret: 'the first secret' } },
    });

    expect(await patch({ name: null, config: { signing_secret: null } })).toMatchObject({
      name: null,
      config: { signing_secret_set: false },
    });
    expect(await stack.getChannel(tenantId, id)).toMatchObject({ channel: { webhook: { signingSecret: '' } } });
  });

  it('says when it was last changed', async () => {
    const tenantId = newTenant();
    const { id, created_at: createdAt } = await createChannel(tenantId);
    stack.clock.now += 1000;
    const updatedAt = new Date(stack.clock.now).toISOString();
    const changed = await expecting(200, 'patch', tenantId, `/channels/${id}`, { body: { name: 'Renamed' } });
    expect(changed).toMatchObject({ created_at: createdAt, updated_at: updatedAt });
  });

  it('takes no secret of fewer than 16 bytes', async () => {
    const tenantId = newTenant();
    const { id } = await createChannel(tenantId);
    const body = { config: { signing_secret: 'short' } };
    const refused = await expecting(400, 'patch', tenantId, `/channels/${id}`, { body });
    expect(pathsOf(refused)).toEqual(['config.signing_secret']);
  });

  it('changes the type where the patch makes a whole channel of it', async () => {
    const tenantId = newTenant();
    const { id } = await createChannel(tenantId);
    const toChat = { channel_type: 'chat', config: { webhook_url: CHAT_URL } };
    await expecting(400, 'patch', tenantId, `/channels/${id}`, { body: toChat });
    const body = { ...toChat, config: { url: null, webhook_url: CHAT_URL } };
    const chat = await expecting(200, 'patch', tenantId, `/channels/${id}`, { body });
    expect(chat).toMatchObject({ channel_type: 'chat', config: { webhook_url: 'https://hooks.slack.example/***' } });
  });

  it('refuses the masked URL that it was shown, and changes nothing', async () => {
    const tenantId = newTenant();
    const channel = await createChannel(tenantId, chatBody);
    const body = { enabled: false, config: channel['config'] };
    const response = await call('patch', tenantId, `/channels/${channel.id}`, { body });
    expect([response.status, pathsOf(response.body)]).toEqual([400, ['config.webhook_url']]);
    expect(await stack.getChannel(tenantId, channel.id)).toMatchObject({
      channel: { enabled: true, chat: { webhookUrl: CHAT_URL } },
    });
  });

  it('refuses unknown fields, also to remove them', async () => {
    const tenantId = newTenant();
    const { id } = await createChannel(tenantId);
    for (const body of [{ id: 'x' }, { label: null }, { config: { signing_secret_set: false } }]) {
      await expecting(400, 'patch', tenantId, `/channels/${id}`, { body });
    }
  });
});

describe('deleting a channel', () => {
  it('takes it out of the rules that named it and leaves them as they are otherwise', async () => {
    const tenantId = newTenant();
    const [gone, kept] = [await createChannel(tenantId), await createChannel(tenantId)];
    const rule = await createRule(tenantId, { channel_config_ids: [gone.id, kept.id] });

    await expecting(204, 'delete', tenantId, `/channels/${gone.id}`);

    expect(await expecting(200, 'get', tenantId, `/rules/${rule.id}`)).toEqual({
      ...rule,
      channel_config_ids: [kept.id],
    });
    await expecting(404, 'get', tenantId, `/channels/${gone.id}`);
    await expect(stack.getChannel(tenantId, gone.id)).rejects.toMatchObject({ code: 'not_found' });
  });

  it('leaves no rule that names it, though such rules are made at the same moment', async () => {
    const tenantId = newTenant();
    const channels: string[] = [];
    for (let n = 0; n < 10; n += 1) channels.push((await createChannel(tenantId)).id);
    const made = channels.map((id) =>
      call('post', tenantId, '/rules', { body: ruleBody(tenantId, { channel_config_ids: [id] }) }),
    );
    const deleted = channels.map((id) => call('delete', tenantId, `/channels/${id}`));
    expect(new Set((await Promise.all(deleted)).map(({ status }) => status))).toEqual(new Set([204]));
    for (const { status } of await Promise.all(made)) expect([201, 400]).toContain(status);
    const { items } = await expecting(200, 'get', tenantId, '/rules');
    expect((items as Body[]).flatMap((rule) => rule['channel_config_ids'])).toEqual([]);
  });
});

describe('testing a channel', () => {
  it('answers what the destination said, with capitalised keys', async () => {
    const tenantId = newTenant();
    const { id } = await createChannel(tenantId);
    const body = await expecting(200, 'post', tenantId, `/channels/${id}/test`);
    expect(body).toEqual({ ResponseStatus: 204, ResponseSnippet: '' });
    expect(stack.peers.tested).toContainEqual({ tenantId, channelId: id });
  });

  it.each(['destination_unreachable', 'destination_blocked'] as const)('answers 502 for %s', async (code) => {
    const tenantId = newTenant();
    const { id } = await createChannel(tenantId);
    stack.peers.failTests(new AppError(code, 'No answer.'));
    const response = await call('post', tenantId, `/channels/${id}/test`);
    stack.peers.failTests(undefined);
    expect([response.status, response.body]).toEqual([502, expect.objectContaining({ code, error: 'No answer.' })]);
  });
});

describe('channels', () => {
  it('of another workspace do not exist', async () => {
    const { id } = await createChannel(newTenant());
    const tenantId = newTenant();
    await expecting(404, 'get', tenantId, `/channels/${id}`);
    await expecting(404, 'patch', tenantId, `/channels/${id}`, { body: { enabled: false } });
    await expecting(404, 'delete', tenantId, `/channels/${id}`);
    await expecting(404, 'post', tenantId, `/channels/${id}/test`);
    await expect(stack.getChannel(tenantId, id)).rejects.toMatchObject({ code: 'not_found' });
  });

  it('are for admins', async () => {
    const tenantId = newTenant();
    await expecting(403, 'get', tenantId, '/channels', { role: 'member' });
    await expecting(403, 'post', tenantId, '/channels/chan_1/test', { role: 'member' });
    await expecting(401, 'get', tenantId, '/channels', { token: null });
  });

  it('are told over gRPC with their secrets', async () => {
    const tenantId = newTenant();
    const { id } = await createChannel(tenantId, { ...chatBody, enabled: false });
    expect(await stack.getChannel(tenantId, id)).toEqual({
      channel: { id, enabled: false, name: 'Ops', chat: { webhookUrl: CHAT_URL }, destination: 'chat' },
    });
  });

  it.each([
    ['no tenant', '', 'chan_1', 'tenant_id'],
    ['a channel of another shape', 'ws_1', '$', 'channel_id'],
    ['a channel whose id is too long', 'ws_1', 'c'.repeat(129), 'channel_id'],
  ])('refuse a question over gRPC about %s by the name of the field', async (_case, tenantId, channelId, path) => {
    const asked = stack.getChannel(tenantId, channelId);
    await expect(asked).rejects.toMatchObject({ code: 'invalid_request', details: [{ path }] });
  });
});

describe('the encryption keys', () => {
  it('rotate: the first key encrypts, all of them decrypt', async () => {
    const tenantId = newTenant();
    const old = await createChannel(tenantId, chatBody);
    await stack.restart({ CHANNEL_ENCRYPTION_KEYS: `${KEY_B},${KEY_A}` });
    const fresh = await createChannel(tenantId, chatBody);
    for (const { id } of [old, fresh]) {
      expect(await stack.getChannel(tenantId, id)).toMatchObject({ channel: { chat: { webhookUrl: CHAT_URL } } });
    }
    await expecting(200, 'patch', tenantId, `/channels/${old.id}`, { body: { name: 'Sealed again' } });
    const stored = await storedChannels().find({ tenantId }).toArray();
    expect(stored.map(({ keyId }) => keyId)).toEqual(['b', 'b']);
  });

  it('keep the service from starting, with the way out, when one is missing', async () => {
    await createChannel(newTenant(), chatBody);
    await stack.stop();
    await expect(
      stack.start({ CHANNEL_ENCRYPTION_KEYS: `c:${Buffer.alloc(32, 3).toString('base64')}` }),
    ).rejects.toThrow(/encrypted with the key "[ab]", which CHANNEL_ENCRYPTION_KEYS does not hold/);
    await stack.start({ CHANNEL_ENCRYPTION_KEYS: `${KEY_B},${KEY_A}` });
  });

  it('do not open a secret that was moved to another channel', async () => {
    const tenantId = newTenant();
    const [from, to] = [await createChannel(tenantId, chatBody), await createChannel(tenantId, chatBody)];
    const { keyId, iv, data } = (await storedChannels().findOne({ _id: from.id as never }))!;
    await storedChannels().updateOne({ _id: to.id as never }, { $set: { keyId, iv, data } });
    await expect(stack.getChannel(tenantId, to.id)).rejects.toMatchObject({ code: 'internal' });
  });
});
