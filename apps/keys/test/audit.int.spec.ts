import { expect, it } from '@jest/globals';
import { CLIENT_HEADER, signClientAddress } from '@tollkeeper/http';
import type { Role } from '@tollkeeper/kernel';
import { CALLER_TOKEN_SECRET, useMongo } from '@tollkeeper/testing';
import { KEYS_PATH, newTenant, useKeys } from './keys.stack.ts';

const keys = useKeys(useMongo());

it('records in the audit log who created, changed and revoked a key and how, once each, and nothing when nothing changed', async () => {
  const tenantId = newTenant();
  const headers = {
    'user-agent': 'curl/8',
    'x-request-id': 'request-of-ada',
    [CLIENT_HEADER]: await signClientAddress(CALLER_TOKEN_SECRET, 'keys', '203.0.113.7'),
  };
  const as = { tenantId, name: 'Ada', headers };
  const { body } = await keys.call('post', KEYS_PATH, { ...as, body: { name: 'eu-1', role: 'developer' } });
  const { id, api_key: apiKey } = body as { id: string; api_key: string };
  await keys.call('get', KEYS_PATH, as);
  await keys.call('post', KEYS_PATH, { ...as, body: { name: '', role: 'developer' } });
  await keys.call('post', KEYS_PATH, { ...as, role: 'admin', body: { name: 'eu-2', role: 'developer' } });
  const change = (labels: object, role: Role = 'owner') =>
    keys.call('patch', `${KEYS_PATH}/${id}`, { ...as, role, body: { labels } });
  await change({});
  await change({ team: 'growth', env: 'prod' });
  await change({ env: 'prod', team: 'growth' });
  await change({ team: '' });
  await change({ team: 'sales' }, 'admin');
  await change({ env: 'prod, team=growth' });
  await change({});
  for (let again = 0; again < 2; again += 1) await keys.call('post', `${KEYS_PATH}/${id}:revoke`, as);
  await change({ team: 'sales' });
  const labels = { team: 'growth' };
  const mapping = { agent: 'app.agent', labels: { project: 'app.project' }, price_anew: true };
  await keys.call('post', KEYS_PATH, { ...as, body: { name: 'last', role: 'read_only', labels, reports: mapping } });

  const records = await keys.audit.records(tenantId, 6);
  const common = {
    tenantId,
    occurredAt: '2026-11-21T18:00:00.000Z',
    actor: { type: 'user', id: 'user_1', name: 'Ada' },
    address: '203.0.113.7',
    userAgent: 'curl/8',
    requestId: 'request-of-ada',
  };
  const target = { type: 'key', id, name: 'eu-1' };
  expect(records.map(({ id: _id, ...record }) => record)).toEqual([
    {
      ...{ ...common, action: 'key.create', target },
      changes: [
        { field: 'name', from: null, to: 'eu-1' },
        { field: 'role', from: null, to: 'developer' },
      ],
    },
    ...[
      { field: 'labels', from: null, to: ['env=prod', 'team=growth'] },
      { field: 'labels', from: ['env=prod', 'team=growth'], to: ['env=prod, team=growth'] },
      { field: 'labels', from: ['env=prod, team=growth'], to: null },
    ].map((changed) => ({ ...common, action: 'key.update', target, changes: [changed] })),
    {
      ...{ ...common, action: 'key.revoke', target },
      changes: [{ field: 'revoked_at', from: null, to: '2026-11-21T18:00:00.000Z' }],
    },
    expect.objectContaining({
      action: 'key.create',
      target: expect.objectContaining({ name: 'last' }),
      changes: [
        { field: 'name', from: null, to: 'last' },
        { field: 'role', from: null, to: 'read_only' },
        { field: 'labels', from: null, to: ['team=growth'] },
        { field: 'reports.agent', from: null, to: 'app.agent' },
        { field: 'reports.labels', from: null, to: ['project=app.project'] },
        { field: 'reports.price_anew', from: null, to: true },
      ],
    }),
  ]);
  expect(JSON.stringify(records)).not.toContain(apiKey.slice(apiKey.indexOf('.') + 1));
});
