import { expect, it } from '@jest/globals';
import type { ReadAuditRecord } from '@tollkeeper/contracts';
import { eventually, useMongo } from '@tollkeeper/testing';
import { event, newTenant, useAlerts } from './alerts.stack.ts';

const stack = useAlerts(useMongo());
const { call, createRule, expecting } = stack;

const brief = ({ action, target, changes }: ReadAuditRecord) => [action, target, changes];
/** Picks the fields under test. */
const fields = (records: readonly ReadAuditRecord[], ...names: string[]) =>
  records.map(({ action, changes }) => [action, changes.filter(({ field }) => names.includes(field))]);

it('records each change of a rule in the audit log, once, with the fields that differ', async () => {
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

it('records an alert that somebody acknowledged and resolved, once each, and none that the clock resolved', async () => {
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
