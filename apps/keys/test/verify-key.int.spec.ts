import { describe, expect, it } from '@jest/globals';
import { mintWorkspaceKey, parseWorkspaceKey } from '@tollkeeper/contracts';
import { eventually, useMongo } from '@tollkeeper/testing';
import { KEYS_PATH, newTenant, useKeys } from './keys.stack.ts';

/** How reports are read unless the key says otherwise. */
const NO_MAPPING = { agent: '', run: '', labels: {}, priceAnew: false, guard: 'tollkeeper' };

function parsed(apiKey: string): [string, Buffer] {
  const key = parseWorkspaceKey(apiKey);
  if (key === null) throw new Error('not a workspace key');
  return [key.keyId, key.sha256];
}

describe('VerifyKey', () => {
  const mongo = useMongo();
  const keys = useKeys(mongo, { LAST_USED_FLUSH_MS: '50000' });
  const flushing = useKeys(mongo, { LAST_USED_FLUSH_MS: '10' });

  it('answers the workspace and the role of a good key', async () => {
    const tenantId = newTenant();
    const { api_key: apiKey } = await keys.create(tenantId, 'k', 'read_only');

    expect(await keys.verify(...parsed(apiKey))).toEqual({
      tenantId,
      role: 'KEY_ROLE_READ_ONLY',
      labels: {},
      watched: false,
      reports: NO_MAPPING,
    });
  });

  it('answers the labels of the key, and changed ones from then on', async () => {
    const tenantId = newTenant();
    const labels = { team: 'growth', 'cost.center': 'R&D, 7', constructor: 'x' };
    const { id, api_key: apiKey } = await keys.create(tenantId, 'k', 'developer', labels);
    expect((await keys.verify(...parsed(apiKey))).labels).toEqual(labels);

    for (const changed of [{ env: 'prod', 'cost.center': '8', constructor: 'y' }, {}]) {
      await keys.setLabels(tenantId, id, changed);
      expect((await keys.verify(...parsed(apiKey))).labels).toEqual(changed);
    }
  });

  it('answers how reports with the key are read, and changes of it from then on', async () => {
    const tenantId = newTenant();
    const reports = { agent: 'app.agent', labels: { 'cost.center': 'cost_center' }, price_anew: true };
    const body = { name: 'k', role: 'developer', reports };
    const created = await keys.call('post', KEYS_PATH, { tenantId, body });
    const { id, api_key: apiKey } = created.body as { id: string; api_key: string };
    const mapping = { agent: 'app.agent', labels: { 'cost.center': 'cost_center' }, priceAnew: true };
    expect((await keys.verify(...parsed(apiKey))).reports).toEqual({ ...NO_MAPPING, ...mapping });

    const change = { reports: { run: 'app.run', guard: 'ours' } };
    await keys.call('patch', `${KEYS_PATH}/${id}`, { tenantId, body: change });
    expect((await keys.verify(...parsed(apiKey))).reports).toEqual({ ...NO_MAPPING, run: 'app.run', guard: 'ours' });
  });

  it('answers no labels for a key that release 0.1.0 stored, until it is given some', async () => {
    const tenantId = newTenant();
    const { id, sha256 } = mintWorkspaceKey();
    const stored = { tenantId, name: 'old', role: 'developer', sha256, createdAt: new Date(keys.clock.now) };
    await mongo.connection
      .useDb(keys.database)
      .collection<{ _id: string; [field: string]: unknown }>('workspace_keys')
      .insertOne({ _id: id, ...stored, lastUsedAt: null, revokedAt: null });

    const none = { labels: {}, reports: NO_MAPPING };
    expect(await keys.verify(id, sha256)).toMatchObject({ tenantId, role: 'KEY_ROLE_DEVELOPER', ...none });
    expect(await keys.list(tenantId)).toEqual([expect.objectContaining({ id, labels: {} })]);
    expect((await keys.setLabels(tenantId, id, { team: 'growth' })).status).toBe(200);
    expect((await keys.verify(id, sha256)).labels).toEqual({ team: 'growth' });
  });

  it('gives one and the same answer for an unknown key, a wrong secret and a revoked key', async () => {
    const tenantId = newTenant();
    const good = await keys.create(tenantId);
    const revoked = await keys.create(tenantId);
    await keys.revoke(tenantId, revoked.id);
    const stranger = mintWorkspaceKey();

    const attempts = await Promise.allSettled([
      keys.verify(stranger.id, stranger.sha256),
      keys.verify(good.id, stranger.sha256),
      keys.verify(...parsed(revoked.api_key)),
    ]);

    const reason = { code: 'not_found', message: 'This workspace key is not valid.' };
    for (const attempt of attempts) expect(attempt).toMatchObject({ status: 'rejected', reason });
  });

  const ofId = { path: 'key_id', message: 'must be 16 characters of A-Z a-z 0-9' };
  const ofDigest = { path: 'key_sha256', message: 'must be a SHA-256 of 32 bytes' };
  it.each([
    ['an id of another shape', '../../etc/passwd', Buffer.alloc(32), [ofId]],
    ['an id that is too long', 'A'.repeat(17), Buffer.alloc(32), [ofId]],
    ['a digest of another length', 'A'.repeat(16), Buffer.alloc(31), [ofDigest]],
    ['nothing', '', Buffer.alloc(0), [ofId, ofDigest]],
  ])('refuses %s by the names of the fields', async (_case, keyId, sha256, details) => {
    await expect(keys.verify(keyId, sha256)).rejects.toMatchObject({ code: 'invalid_request', details });
  });

  it('counts as a use of the key, which a stop of the service does not lose', async () => {
    const tenantId = newTenant();
    const used = await keys.create(tenantId);
    await keys.verify(...parsed(used.api_key));
    keys.clock.now += 5000;
    const usedAt = new Date(keys.clock.now).toISOString();

    await keys.verify(...parsed(used.api_key));
    await keys.restart();

    expect(await keys.list(tenantId)).toEqual([expect.objectContaining({ id: used.id, last_used_at: usedAt })]);
  });

  it('shows in the list before the next write if it is the first one', async () => {
    const tenantId = newTenant();
    const used = await keys.create(tenantId);
    await keys.verify(...parsed(used.api_key));

    const usedAt = new Date(keys.clock.now).toISOString();
    await eventually(async () =>
      expect(await keys.list(tenantId)).toEqual([expect.objectContaining({ last_used_at: usedAt })]),
    );
  });

  it('shows in the list while the service runs', async () => {
    const tenantId = newTenant();
    const used = await flushing.create(tenantId);
    await flushing.verify(...parsed(used.api_key));
    flushing.clock.now += 5000;
    await flushing.verify(...parsed(used.api_key));

    const usedAt = new Date(flushing.clock.now).toISOString();
    await eventually(async () =>
      expect(await flushing.list(tenantId)).toEqual([expect.objectContaining({ last_used_at: usedAt })]),
    );
  });

  it('leaves last_used_at alone when the key is refused', async () => {
    const tenantId = newTenant();
    const { id } = await keys.create(tenantId);

    await expect(keys.verify(id, Buffer.alloc(32))).rejects.toThrow();
    await keys.restart();

    expect(await keys.list(tenantId)).toEqual([expect.objectContaining({ id, last_used_at: null })]);
  });
});
