import { expect, it } from '@jest/globals';
import { eventually, useMongo } from '@tollkeeper/testing';
import { newTenant, useBudgets } from './budgets.stack.ts';

const budgets = useBudgets(useMongo());

it('records each changed budget and plan in the audit log, once, with what it was and is', async () => {
  const tenantId = newTenant();
  budgets.identity.register(tenantId, 'night-shift');
  const plan = { plan_key: 'tier', display_name: 'Tier', daily_budget_usd_micros: 5 };
  await budgets.setDaily(tenantId, '/workspace', 25);
  await budgets.setDaily(tenantId, '/workspace', 25);
  await budgets.setDaily(tenantId, '/agents/night-shift', 7);
  await budgets.setDaily(tenantId, '/agents/nobody', 7);
  await budgets.setDaily(tenantId, '/agents/night-shift', null);
  await budgets.call('post', tenantId, '/plans', { body: plan });
  await budgets.call('post', tenantId, '/plans', { body: plan });
  await budgets.put(tenantId, '/plans/tier', { is_active: false, display_name: 'Tier' });
  await budgets.put(tenantId, '/plans/tier', { is_active: false });
  await budgets.call('delete', tenantId, '/plans/tier');
  await budgets.call('delete', tenantId, '/plans/tier');
  await budgets.setDaily(tenantId, '/workspace', null);

  const records = await budgets.audit.records(tenantId, 7);
  const workspace = { type: 'workspace', id: tenantId, name: '' };
  const agent = { type: 'agent', id: 'night-shift', name: 'NIGHT-SHIFT' };
  const tier = { type: 'plan', id: 'tier', name: 'Tier' };
  const daily = (from: number | null, to: number | null) => ({ field: 'daily_budget_usd_micros', from, to });
  expect(records.map(({ action, target, changes }) => [action, target, changes])).toEqual([
    ['budget.workspace.set', workspace, [daily(null, 25)]],
    ['budget.agent.set', agent, [daily(null, 7)]],
    ['budget.agent.set', agent, [daily(7, null)]],
    [
      'plan.create',
      tier,
      [
        { field: 'display_name', from: null, to: 'Tier' },
        { field: 'description', from: null, to: '' },
        daily(null, 5),
        { field: 'is_active', from: null, to: true },
      ],
    ],
    ['plan.update', tier, [{ field: 'is_active', from: true, to: false }]],
    [
      'plan.delete',
      tier,
      [
        { field: 'display_name', from: 'Tier', to: null },
        { field: 'description', from: '', to: null },
        daily(5, null),
        { field: 'is_active', from: false, to: null },
      ],
    ],
    ['budget.workspace.set', workspace, [daily(25, null)]],
  ]);
  expect(new Set(records.map(({ actor }) => actor.id))).toEqual(new Set(['user_1']));
});

it('forgets a record once the log has it', async () => {
  const tenantId = newTenant();
  await budgets.setDaily(tenantId, '/workspace', 25);
  await budgets.audit.records(tenantId, 1);
  await eventually(async () => expect(await budgets.collection('audit_outbox').countDocuments()).toBe(0));
});
