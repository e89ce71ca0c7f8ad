import { expect, it } from '@jest/globals';
import { CLIENT_HEADER, signClientAddress } from '@tollkeeper/http';
import { CALLER_TOKEN_SECRET, useMongo } from '@tollkeeper/testing';
import { KEYS_PATH, newTenant, useKeys } from './keys.stack.ts';

const keys = useKeys(useMongo());

it('records in the audit log who created and revoked a key and how, once each, and nothing when nothing changed', async () => {
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
  for (let again = 0; again < 2; again += 1) await keys.call('post', `${KEYS_PATH}/${id}:revoke`, as);
  await keys.call('post', KEYS_PATH, { ...as, body: { name: 'last', role: 'read_only' } });

  const records = await keys.audit.records(tenantId, 3);
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
    {
      ...{ ...common, action: 'key.revoke', target },
      changes: [{ field: 'revoked_at', from: null, to: '2026-11-21T18:00:00.000Z' }],
    },
    expect.objectContaining({ action: 'key.create', target: expect.objectContaining({ name: 'last' }) }),
  ]);
  expect(JSON.stringify(records)).not.toContain(apiKey.slice(apiKey.indexOf('.') + 1));
});
