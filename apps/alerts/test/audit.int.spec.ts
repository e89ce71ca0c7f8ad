import { expect, it } from '@jest/globals';
import type { ReadAuditRecord } from '@tollkeeper/contracts';
import { eventually, useMongo } from '@tollkeeper/testing';
import { event, newTenant, useAlerts } from './alerts.stack.ts';

const stack = useAlerts(useMongo());
const { call, createChannel, createRule, expecting } = stack;

const brief = ({ action, target, changes }: ReadAuditRecord) => [action, target, changes];
/** Those of the fields that tell what is asked about. */
const fields = (records: readonly ReadAuditRecord[], ...names: string[]) =>
  records.map(({ action, changes }) => [action, changes.filter(({ field }) => names.includes(field))]);

it('tells the audit log of each change of a rule, once, with the fields that differ', async () => {
  const tenantId = newTenant();
  const { id } = await createRule(tenantId);
  await call('patch', tenantId, `/rules/${id}`, { body: { enabled: false, rule_config: { threshold: 5 } } });
  await call('patch', tenantId, `/rules/${id}`, { body: { enabled: false } });
  await call('patch', tenantId, `/rules/${id}`, { body: { severity: 'none' } });
  for (let again = 0; again < 2; again += 1) await call('delete', tenantId, `/rules/${id}`);
  await createRule(tenantId, { name: 'Last' });

  const records = await stack.audited(tenantId, 4);
  const target = { type: 'rule', id, name: 'Blocked calls' };
  expect(records.map(({ action, target: of }) => [action, of])).toEqual([
    ['rule.create', target],
    ['rule.update', target],
    ['rule.delete', target],
    ['rule.create', { ...target, id: expect.any(String), name: 'Last' }],
  ]);
  expect(records[1]!.changes).toEqual([
    { field: 'enabled', from: true, to: false },
    { field: 'threshold', from: 3, to: 5 },
  ]);
  expect(fields(records, 'event_types', 'window_seconds')[2]).toEqual([
    'rule.delete',
    [
      { field: 'window_seconds', from: 60, to: null },
      { field: 'event_types', from: ['budget.blocked'], to: null },
    ],
  ]);
});

it('tells it of each change and test of a channel, and of a secret no more than that it changed', async () => {
  const tenantId = newTenant();
  const url = 'https://hooks.example.com/in?token=url-secret';
  const { id } = await createChannel(tenantId, {
    name: 'Ops',
    config: { url, signing_secret: 'first-signing-secret' },
  });
  const config = { url: 'https://other.example.com/in?token=url-secret-2', signing_secret: 'second-signing-secret' };
  await call('patch', tenantId, `/channels/${id}`, { body: { config } });
  await call('patch', tenantId, `/channels/${id}`, { body: { config } });
  await call('post', tenantId, `/channels/${id}/test`);
  await call('post', tenantId, '/channels/chan_unknown/test');
  for (let again = 0; again < 2; again += 1) await call('delete', tenantId, `/channels/${id}`);
  await createRule(tenantId);

  const records = await stack.audited(tenantId, 5);
  const target = { type: 'channel', id, name: 'Ops' };
  const changed = (field: string) => ({ field, from: null, to: 'changed' });
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
  expect(records[4]!.action).toBe('rule.create');
  for (const secret of ['url-secret', 'signing-secret']) expect(JSON.stringify(records)).not.toContain(secret);
});

it('tells it of an alert that somebody acknowledged and resolved, once each, and of none that the clock resolved', async () => {
  const tenantId = newTenant();
  await createRule(tenantId);
  for (let index = 0; index < 3; index += 1) await stack.append(tenantId, event(stack.clock.now - 10 + index));
  await stack.settled();
  const [alert] = await eventually(async () => {
    const alerts = await stack.alerts(tenantId);
    if (alerts.length === 0) throw new Error('not fired yet');
    return alerts;
  });
  for (const verb of ['acknowledge', 'acknowledge', 'resolve', 'resolve']) {
    await expecting(200, 'post', tenantId, `/${alert!.id}:${verb}`);
  }
  await createRule(tenantId, { name: 'Last' });

  const [, ...records] = await stack.audited(tenantId, 4);
  const target = { type: 'alert', id: alert!.id, name: 'Blocked calls' };
  expect(records.slice(0, 2).map(brief)).toEqual([
    ['alert.acknowledge', target, [{ field: 'status', from: 'firing', to: 'acknowledged' }]],
    ['alert.resolve', target, [{ field: 'status', from: 'acknowledged', to: 'resolved' }]],
  ]);
  expect(records.map(({ action }) => action)).toEqual(['alert.acknowledge', 'alert.resolve', 'rule.create']);
});
