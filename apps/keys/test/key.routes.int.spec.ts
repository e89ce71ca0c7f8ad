import { describe, expect, it } from '@jest/globals';
import { systemCause } from '@tollkeeper/contracts';
import { signCallerToken } from '@tollkeeper/http';
import { useMongo } from '@tollkeeper/testing';
import { MAX_ACTIVE_KEYS } from '../src/domain/workspace-key.ts';
import { KEYS_PATH, newTenant, useKeys } from './keys.stack.ts';

const ELEVEN = Object.fromEntries(Array.from({ length: 11 }, (_, index) => [`label${index}`, 'x']));
/** How reports are read unless the key says otherwise. */
const NO_MAPPING = { agent: null, run: null, labels: {}, price_anew: false, guard: 'tollkeeper' };
/** Mappings that are refused, and the field that the answer names. */
const BAD_MAPPINGS: [string, unknown, string][] = [
  ['an empty name', { agent: '' }, 'reports.agent'],
  ['a name with a space', { run: 'my run' }, 'reports.run'],
  ['a name of 129 characters', { run: 'n'.repeat(129) }, 'reports.run'],
  ['a path without an attribute', { agent: '#a.b' }, 'reports.agent'],
  ['a prompt', { agent: 'gen_ai.input.messages' }, 'reports.agent'],
  ['an answer', { labels: { text: 'gen_ai.completion.0.content' } }, 'reports.labels.text'],
  ['a label with a capital', { labels: { Team: 'app.team' } }, 'reports.labels.Team'],
  ['9 labels', { labels: Object.fromEntries(Array.from({ length: 9 }, (_, at) => [`l${at}`, 'a'])) }, 'reports.labels'],
  ['a guard with a space', { guard: 'my guard' }, 'reports.guard'],
  ['an unknown field', { tier: 'a' }, 'reports.tier'],
  ['an operator object', { agent: { $ne: null } }, 'reports.agent'],
  ['null', null, 'reports'],
];
/** Labels that are refused, and the field that the answer names. */
const BAD_LABELS: [string, unknown, string][] = [
  ['11 labels', ELEVEN, 'labels'],
  ['a name with a capital', { Team: 'growth' }, 'labels.Team'],
  ['a name of 33 characters', { ['n'.repeat(33)]: 'x' }, `labels.${'n'.repeat(33)}`],
  ['an empty value', { team: '' }, 'labels.team'],
  ['a value of 129 characters', { team: 'v'.repeat(129) }, 'labels.team'],
  ['a control character', { team: 'a\u0007b' }, 'labels.team'],
  ['half of a surrogate pair', { team: '\ud83d' }, 'labels.team'],
  ['an operator object', { team: { $ne: null } }, 'labels.team'],
  ['a list', ['team'], 'labels'],
  ['null', null, 'labels'],
];

describe('workspace keys over HTTP', () => {
  const mongo = useMongo();
  const keys = useKeys(mongo);

  describe('creating', () => {
    it('answers 201 with the key, which no other answer, log line or document ever holds', async () => {
      const tenantId = newTenant();

      const response = await keys.call('post', KEYS_PATH, { tenantId, body: { name: 'eu-1', role: 'developer' } });

      expect(response.status).toBe(201);
      const { id, api_key: apiKey } = response.body as { id: string; api_key: string };
      expect(response.body).toEqual({
        id,
        name: 'eu-1',
        role: 'developer',
        labels: {},
        reports: NO_MAPPING,
        created_at: new Date(keys.clock.now).toISOString(),
        api_key: expect.stringMatching(new RegExp(`^ws_live_${id}\\.[0-9A-Za-z]{42}$`)),
      });
      const secret = apiKey.split('.')[1]!;
      expect(JSON.stringify(await keys.list(tenantId))).not.toContain(secret);
      expect(keys.logs.text()).not.toContain(secret);
      const stored = await mongo.connection.useDb(keys.database).collection('workspace_keys').find().toArray();
      expect(stored.length).toBeGreaterThan(0);
      expect(JSON.stringify(stored)).not.toContain(secret);
    });

    it.each(['read_only', 'developer', 'admin'] as const)('takes the role %s', async (role) => {
      const response = await keys.call('post', KEYS_PATH, { body: { name: 'k', role } });
      expect(response.status).toBe(201);
    });

    it('trims the name and takes one of 80 characters', async () => {
      const response = await keys.call('post', KEYS_PATH, { body: { name: ` ${'n'.repeat(80)} `, role: 'admin' } });
      expect(response.body).toMatchObject({ name: 'n'.repeat(80) });
    });

    it('takes labels, which the answer and the list show', async () => {
      const tenantId = newTenant();
      // `cost.center` would be a path in an update, and `constructor` is a property of every object.
      const labels = { team: 'growth', 'cost.center': 'R&D, 7', constructor: 'x' };

      const response = await keys.call('post', KEYS_PATH, { tenantId, body: { name: 'k', role: 'admin', labels } });

      expect([response.status, response.body]).toEqual([201, expect.objectContaining({ labels })]);
      expect(await keys.list(tenantId)).toEqual([expect.objectContaining({ labels })]);
    });

    it('takes 10 labels with names of 32 and values of 128 characters', async () => {
      const name = (index: number) => `n${index}`.padEnd(32, 'n');
      const labels = Object.fromEntries(Array.from({ length: 10 }, (_, index) => [name(index), 'ä'.repeat(128)]));
      const response = await keys.call('post', KEYS_PATH, { body: { name: 'k', role: 'admin', labels } });
      expect([response.status, response.body]).toEqual([201, expect.objectContaining({ labels })]);
    });

    it.each(BAD_LABELS)('refuses %s as labels and names the field', async (_case, labels, path) => {
      const response = await keys.call('post', KEYS_PATH, { body: { name: 'k', role: 'admin', labels } });
      expect([response.status, response.body]).toMatchObject([400, { details: [{ path }] }]);
    });

    it.each([
      ['an empty body', {}, ['name', 'role']],
      ['an empty name', { name: ' ', role: 'admin' }, ['name']],
      ['a name of 81 characters', { name: 'n'.repeat(81), role: 'admin' }, ['name']],
      ['a control character in the name', { name: 'a\u0007b', role: 'admin' }, ['name']],
      ['an unknown role', { name: 'k', role: 'owner' }, ['role']],
      ['an operator object', { name: { $gt: '' }, role: { $ne: null } }, ['name', 'role']],
      ['an unknown field', { name: 'k', role: 'admin', tenant_id: 'ws_other' }, ['tenant_id']],
      ['a list', [], ['']],
    ])('refuses %s and names the fields', async (_case, body, paths) => {
      const response = await keys.call('post', KEYS_PATH, { body });

      expect(response.status).toBe(400);
      const { details } = response.body as { details: { path: string }[] };
      expect(details.map((detail) => detail.path)).toEqual(paths);
    });

    it('refuses a key beyond the most that a workspace may use, until one is revoked', async () => {
      const tenantId = newTenant();
      const made: { id: string }[] = [];
      while (made.length < MAX_ACTIVE_KEYS) {
        const key = { name: 'k', role: 'admin' } as const;
        made.push(await keys.useCases().create(tenantId, key, systemCause('key.create', 'test')));
      }
      const body = { name: 'one more', role: 'admin' };

      expect((await keys.call('post', KEYS_PATH, { tenantId, body })).status).toBe(409);
      await keys.revoke(tenantId, made[0]!.id);
      expect((await keys.call('post', KEYS_PATH, { tenantId, body })).status).toBe(201);
    });
  });

  describe('listing', () => {
    it('shows the keys of the workspace alone, the good ones first, newest first', async () => {
      const tenantId = newTenant();
      const first = await keys.create(tenantId, 'first');
      keys.clock.now += 1000;
      const second = await keys.create(tenantId, 'second');
      keys.clock.now += 1000;
      const third = await keys.create(tenantId, 'third');
      await keys.create(newTenant(), 'foreign');
      await keys.revoke(tenantId, third.id);

      expect(await keys.list(tenantId)).toEqual([
        expect.objectContaining({ id: second.id, labels: {}, last_used_at: null, revoked_at: null }),
        expect.objectContaining({ id: first.id, created_at: first.created_at }),
        expect.objectContaining({ id: third.id, revoked_at: new Date(keys.clock.now).toISOString() }),
      ]);
    });

    it('is empty for a workspace without keys', async () => {
      expect(await keys.list(newTenant())).toEqual([]);
    });
  });

  describe('how reports with the key are read', () => {
    const reports = {
      ...{ agent: 'app.agent', run: '$.metadata.requester_metadata.job', price_anew: true, guard: 'budget-guard' },
      labels: { 'cost.center': 'cost_center', constructor: 'metadata.requester_metadata#project' },
    };

    it('can be set when it is created, and the answer and the list show it', async () => {
      const tenantId = newTenant();
      const response = await keys.call('post', KEYS_PATH, { tenantId, body: { name: 'k', role: 'admin', reports } });
      expect([response.status, response.body]).toEqual([201, expect.objectContaining({ reports })]);
      expect(await keys.list(tenantId)).toEqual([expect.objectContaining({ reports })]);
    });

    it('can be changed as a whole, without its labels, and the labels without it', async () => {
      const tenantId = newTenant();
      const { id } = await keys.create(tenantId, 'k', 'admin', { team: 'growth' });
      const change = async (body: object) => {
        const response = await keys.call('patch', `${KEYS_PATH}/${id}`, { tenantId, body });
        expect(response.status).toBe(200);
        expect(await keys.list(tenantId)).toEqual([response.body]);
        return response.body as unknown;
      };
      expect(await change({ reports })).toMatchObject({ labels: { team: 'growth' }, reports });
      expect(await change({ labels: { team: 'sales' } })).toMatchObject({ labels: { team: 'sales' }, reports });
      const run = { ...NO_MAPPING, run: 'app.run' };
      expect(await change({ labels: {}, reports: { run: 'app.run' } })).toMatchObject({ labels: {}, reports: run });
      expect(await change({ reports: {} })).toMatchObject({ reports: NO_MAPPING });
    });

    it.each(BAD_MAPPINGS)('cannot be %s, and the answer names the field', async (_case, mapping, path) => {
      const tenantId = newTenant();
      const { id } = await keys.create(tenantId);
      const answers = [
        await keys.call('post', KEYS_PATH, { tenantId, body: { name: 'k', role: 'admin', reports: mapping } }),
        await keys.call('patch', `${KEYS_PATH}/${id}`, { tenantId, body: { reports: mapping } }),
      ];
      for (const { status, body } of answers) expect([status, body]).toMatchObject([400, { details: [{ path }] }]);
      expect(await keys.list(tenantId)).toEqual([expect.objectContaining({ reports: NO_MAPPING })]);
    });
  });

  describe('changing the labels', () => {
    it('replaces all of them and answers the key as the list shows it', async () => {
      const tenantId = newTenant();
      const { id } = await keys.create(tenantId, 'k', 'read_only', { team: 'growth', env: 'prod' });
      const other = await keys.create(tenantId, 'other', 'admin', { team: 'research' });

      const labels = { team: 'sales', 'cost.center': '7', constructor: 'x' };
      const changed = await keys.setLabels(tenantId, id, labels);

      expect([changed.status, changed.body]).toMatchObject([200, { id, name: 'k', role: 'read_only' }]);
      expect((changed.body as { labels: unknown }).labels).toEqual(labels);
      const listed = await keys.list(tenantId);
      expect(listed.find((key) => key['id'] === id)).toEqual(changed.body);
      expect(listed.find((key) => key['id'] === other.id)).toMatchObject({ labels: { team: 'research' } });
    });

    it('removes them with {}', async () => {
      const tenantId = newTenant();
      const { id } = await keys.create(tenantId, 'k', 'admin', { team: 'growth' });

      const changed = await keys.setLabels(tenantId, id, {});

      expect([changed.status, changed.body]).toEqual([200, expect.objectContaining({ labels: {} })]);
      expect(await keys.list(tenantId)).toEqual([expect.objectContaining({ labels: {} })]);
    });

    it.each(BAD_LABELS)('refuses %s, names the field and changes nothing', async (_case, labels, path) => {
      const tenantId = newTenant();
      const { id } = await keys.create(tenantId, 'k', 'admin', { team: 'growth' });

      const response = await keys.setLabels(tenantId, id, labels);

      expect([response.status, response.body]).toMatchObject([400, { details: [{ path }] }]);
      expect(await keys.list(tenantId)).toEqual([expect.objectContaining({ labels: { team: 'growth' } })]);
    });

    it.each([
      ['an empty body', {}, ''],
      ['another field of the key', { labels: {}, role: 'admin' }, 'role'],
    ])('refuses %s', async (_case, body, path) => {
      const tenantId = newTenant();
      const { id } = await keys.create(tenantId);

      const response = await keys.call('patch', `${KEYS_PATH}/${id}`, { tenantId, body });

      expect([response.status, response.body]).toMatchObject([400, { details: [{ path }] }]);
    });

    it("answers 404 for another workspace's key and leaves its labels", async () => {
      const owner = newTenant();
      const { id } = await keys.create(owner, 'k', 'admin', { team: 'growth' });

      expect((await keys.setLabels(newTenant(), id, { team: 'mine' })).status).toBe(404);
      expect(await keys.list(owner)).toEqual([expect.objectContaining({ labels: { team: 'growth' } })]);
    });

    it('answers 404 for a key that does not exist', async () => {
      expect((await keys.setLabels(newTenant(), 'nosuchkey', {})).status).toBe(404);
    });

    it('answers 409 for a revoked key, says what to do, and leaves its labels', async () => {
      const tenantId = newTenant();
      const { id } = await keys.create(tenantId, 'k', 'admin', { team: 'growth' });
      await keys.revoke(tenantId, id);

      const response = await keys.setLabels(tenantId, id, { team: 'sales' });

      const error = expect.stringContaining('Create a new key');
      expect([response.status, response.body]).toMatchObject([409, { code: 'conflict', error }]);
      expect(await keys.list(tenantId)).toEqual([expect.objectContaining({ labels: { team: 'growth' } })]);
    });

    it.each(['a'.repeat(129), '%00', '%24ne', '%ff'])('answers 400 for the id %s', async (id) => {
      expect((await keys.setLabels(newTenant(), id, {})).status).toBe(400);
    });
  });

  describe('revoking', () => {
    it('answers {ok: true} again and keeps the first revoked_at', async () => {
      const tenantId = newTenant();
      const { id } = await keys.create(tenantId);

      const first = await keys.revoke(tenantId, id);
      const revokedAt = new Date(keys.clock.now).toISOString();
      keys.clock.now += 60_000;
      const second = await keys.revoke(tenantId, id);

      expect([first.status, first.body]).toEqual([200, { ok: true }]);
      expect([second.status, second.body]).toEqual([200, { ok: true }]);
      expect(await keys.list(tenantId)).toEqual([expect.objectContaining({ revoked_at: revokedAt })]);
    });

    it("answers 404 for another workspace's key and leaves it good", async () => {
      const owner = newTenant();
      const { id } = await keys.create(owner);

      expect((await keys.revoke(newTenant(), id)).status).toBe(404);
      expect(await keys.list(owner)).toEqual([expect.objectContaining({ id, revoked_at: null })]);
    });

    it('answers 404 for a key that does not exist', async () => {
      expect((await keys.revoke(newTenant(), 'nosuchkey')).status).toBe(404);
    });

    it.each(['a'.repeat(129), '%00', '%24ne', '%ff'])('answers 400 for the id %s', async (id) => {
      expect((await keys.revoke(newTenant(), id)).status).toBe(400);
    });
  });

  describe('access', () => {
    const routes = [
      ['get', KEYS_PATH],
      ['post', KEYS_PATH],
      ['patch', `${KEYS_PATH}/abc`],
      ['post', `${KEYS_PATH}/abc:revoke`],
    ] as const;

    it.each(routes)('%s %s needs an owner', async (method, path) => {
      expect((await keys.call(method, path, { role: 'member' })).status).toBe(403);
      expect((await keys.call(method, path, { role: 'admin' })).status).toBe(403);
    });

    it.each(routes)('%s %s refuses a missing and a forged caller', async (method, path) => {
      const tenantId = newTenant();
      const forged = await signCallerToken('another-secret-with-enough-bytes-in-it', 'keys', {
        userId: 'user_1',
        tenantId,
        role: 'owner',
      });
      expect((await keys.call(method, path, { token: null })).status).toBe(401);
      expect((await keys.call(method, path, { token: forged })).status).toBe(401);
    });

    it.each(routes)('%s %s takes no workspace key', async (method, path) => {
      const { api_key: apiKey } = await keys.create(newTenant(), 'k', 'admin');
      const headers = { authorization: `Bearer ${apiKey}` };

      expect((await keys.call(method, path, { token: null, headers })).status).toBe(401);
    });
  });
});
