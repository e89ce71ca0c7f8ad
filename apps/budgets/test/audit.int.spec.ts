import { expect, it } from '@jest/globals';
import { eventually, useMongo } from '@tollkeeper/testing';
import { newTenant, useBudgets } from './budgets.stack.ts';

const budgets = useBudgets(useMongo());

const HOUSE = { model: 'house-1', valid_from: '2026-11-01T00:00:00.000Z', input_micros_per_million: 2_500_000 };

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

it('records each budget that is made, changed and deleted, with the fields that differ', async () => {
  const tenantId = newTenant();
  const body = {
    name: 'Growth',
    selector: { model: 'claude-*', labels: { team: 'growth', env: 'prod' } },
    period: { kind: 'month', start_day: 5 },
    limit_micros: 100,
  };
  const { body: created } = await budgets.callBudgets('post', tenantId, '', { body });
  const below = `/${created.id}`;
  const patch = (changes: object) => budgets.callBudgets('patch', tenantId, below, { body: changes });
  await patch({ limit_micros: 100, name: 'Growth' });
  await patch({ limit_micros: -1 });
  await patch({ name: 'Growth team', each: 'agent', tell_at: [100, 50], selector: { labels: null } });
  await budgets.callBudgets('delete', tenantId, below);
  await budgets.callBudgets('delete', tenantId, below);

  const fields = (records: readonly { field: string; to: unknown }[]) =>
    Object.fromEntries(records.map(({ field, to }) => [field, to]));
  const [create, update, deletion] = await budgets.audit.records(tenantId, 3);
  expect(create).toMatchObject({ action: 'budget.create', target: { type: 'budget', id: created.id, name: 'Growth' } });
  expect(fields(create!.changes)).toEqual({
    name: 'Growth',
    description: '',
    selector: ['model=claude-*', 'label:env=prod', 'label:team=growth'],
    period: ['kind=month', 'start_day=5'],
    ...{ limit_micros: 100, action: 'deny', grace_percent: 0, is_active: true },
  });
  expect(update).toMatchObject({
    action: 'budget.update',
    changes: [
      { field: 'name', from: 'Growth', to: 'Growth team' },
      { field: 'selector', to: ['model=claude-*'] },
      { field: 'each', from: null, to: 'agent' },
      { field: 'tell_at', from: null, to: [50, 100] },
    ],
  });
  expect(deletion).toMatchObject({ action: 'budget.delete', target: { name: 'Growth team' } });
  expect(new Set(Object.values(fields(deletion!.changes)))).toEqual(new Set([null]));
});

it('records a daily budget that is changed as a budget like one that is set', async () => {
  const tenantId = newTenant();
  budgets.identity.register(tenantId, 'planner');
  const plan = { plan_key: 'tier', display_name: 'Tier', daily_budget_usd_micros: 5 };
  await budgets.setDaily(tenantId, '/workspace', 5);
  await budgets.setDaily(tenantId, '/agents/planner', 5);
  await budgets.call('post', tenantId, '/plans', { body: plan });
  const ids = ['bud_workspace', 'bud_agent.planner', 'bud_plan.tier'];
  for (const id of ids) {
    await budgets.callBudgets('patch', tenantId, `/${id}`, { body: { limit_micros: 5 } });
    await budgets.callBudgets('patch', tenantId, `/${id}`, { body: { limit_micros: 7 } });
  }
  for (const id of ids) await budgets.callBudgets('delete', tenantId, `/${id}`);

  const records = (await budgets.audit.records(tenantId, 9)).slice(3);
  expect(records.map(({ action, target: { id, name } }) => [action, id, name])).toEqual([
    ['budget.workspace.set', tenantId, ''],
    ['budget.agent.set', 'planner', 'PLANNER'],
    ['plan.update', 'tier', 'Tier'],
    ['budget.workspace.set', tenantId, ''],
    ['budget.agent.set', 'planner', 'PLANNER'],
    ['plan.delete', 'tier', 'Tier'],
  ]);
  const limits = records.map(({ changes }) => changes.find(({ field }) => field === 'daily_budget_usd_micros'));
  expect(limits).toEqual(
    [5, 5, 5, 7, 7, 7].map((from) => expect.objectContaining({ from, to: from === 5 ? 7 : null })),
  );
});

it('forgets a record once the log has it', async () => {
  const tenantId = newTenant();
  await budgets.setDaily(tenantId, '/workspace', 25);
  await budgets.audit.records(tenantId, 1);
  await eventually(async () => expect(await budgets.collection('audit_outbox').countDocuments()).toBe(0));
});

it('records each price that is set, once, with what counted before', async () => {
  const tenantId = newTenant();
  const set = (fields: object = {}) => budgets.callPrices('put', tenantId, '', { body: { ...HOUSE, ...fields } });
  await set();
  await set();
  const { body } = await set({ input_micros_per_million: 3, valid_from: '2026-11-09T00:00:00.000Z' });
  const records = await budgets.audit.records(tenantId, 2);
  expect(records.map(({ action, target, changes }) => [action, target.name, changes])).toEqual([
    [
      'price.set',
      'house-1',
      [
        { field: 'model', from: null, to: 'house-1' },
        { field: 'valid_from', from: null, to: HOUSE.valid_from },
        { field: 'input_micros_per_million', from: null, to: 2_500_000 },
      ],
    ],
    [
      'price.set',
      'house-1',
      [
        { field: 'valid_from', from: HOUSE.valid_from, to: '2026-11-09T00:00:00.000Z' },
        { field: 'input_micros_per_million', from: 2_500_000, to: 3 },
      ],
    ],
  ]);
  expect(records[1]?.target).toMatchObject({ type: 'price', id: body.id });
});

it('records who paused and resumed what, until when and why, in order', async () => {
  const tenantId = newTenant();
  const [until, later] = [1, 24].map((hours) => new Date(budgets.clock.now + hours * 3_600_000).toISOString());
  const pause = (body: object) => budgets.callPauses('post', tenantId, '', { role: 'admin', body });
  const end = (id: string) => budgets.callPauses('delete', tenantId, `/${id}`, { role: 'admin' });
  const team = { scope: 'label:team', value: 'growth', until, reason: 'Month is spent' };
  const { id } = (await pause(team)).body;
  await pause(team);
  await pause({ ...team, until: later });
  await end(id);
  await end(id);
  const records = await budgets.audit.records(tenantId, 3);
  const target = { type: 'pause', id, name: 'label:team growth' };
  const of = (from: unknown, to: unknown, field: string) => ({ field, from, to });
  expect(records.map((record) => [record.action, record.target, record.changes])).toEqual([
    ['pause.create', target, Object.entries(team).map(([field, value]) => of(null, value, field))],
    ['pause.create', target, [of(until, later, 'until')]],
    ['pause.end', target, expect.arrayContaining([of(later, null, 'until')])],
  ]);
});

it('records who asked for a raise, who decided, and both amounts, in order', async () => {
  const tenantId = newTenant();
  await budgets.setDaily(tenantId, '/workspace', 25);
  const until = new Date(budgets.clock.now + 3_600_000).toISOString();
  const asked = { budget_id: 'bud_workspace', extra_micros: 10, until, reason: 'Launch' };
  const ask = async () =>
    (await budgets.callRaises('post', tenantId, '', { role: 'member', userId: 'user_mia', body: asked })).body.id;
  const [first, second] = [await ask(), await ask()];
  const olga = { userId: 'user_olga' };
  await budgets.callRaises('post', tenantId, `/${first}:approve`, { ...olga, body: { extra_micros: 7 } });
  await budgets.callRaises('post', tenantId, `/${second}:decline`, { ...olga, body: { reason: 'No' } });
  await budgets.callRaises('post', tenantId, `/${first}:end`, olga);
  await budgets.callRaises('post', tenantId, '', { body: asked });

  const records = (await budgets.audit.records(tenantId, 7)).slice(1);
  const seen = records.map(({ action, actor, target, changes }) => {
    const to = new Map(changes.map((change) => [change.field, change.to]));
    return [
      action,
      actor.id,
      target.name,
      ...['state', 'asked_by', 'asked_micros', 'extra_micros'].map((field) => to.get(field)),
    ];
  });
  const mia = 'user user_mia';
  expect(seen).toEqual([
    ['raise.request', 'user_mia', 'Workspace', 'requested', mia, 10, undefined],
    ['raise.request', 'user_mia', 'Workspace', 'requested', mia, 10, undefined],
    ['raise.grant', 'user_olga', 'Workspace', 'active', mia, 10, 7],
    ['raise.decline', 'user_olga', 'Workspace', 'declined', mia, 10, undefined],
    ['raise.end', 'user_olga', 'Workspace', 'ended', mia, 10, 7],
    ['raise.grant', 'user_1', 'Workspace', 'active', 'user user_1', 10, 10],
  ]);
});

it('records once that a raise has ended by time, after what led to it', async () => {
  const tenantId = newTenant();
  await budgets.setDaily(tenantId, '/workspace', 25);
  const until = new Date(budgets.clock.now + 3_600_000).toISOString();
  const asked = { budget_id: 'bud_workspace', extra_micros: 10, until, reason: 'Night run' };
  const { body } = await budgets.callRaises('post', tenantId, '', { role: 'member', userId: 'user_mia', body: asked });
  await budgets.callRaises('post', tenantId, `/${body.id}:approve`, { userId: 'user_olga', body: {} });
  budgets.clock.now = Date.parse(until);
  await budgets.audit.records(tenantId, 4);
  // Records of a workspace keep their order, so nothing comes before the last one.
  await budgets.setDaily(tenantId, '/workspace', 30);
  const records = await budgets.audit.records(tenantId, 5);
  expect(records.map(({ action, actor }) => [action, actor.id])).toEqual([
    ['budget.workspace.set', 'user_1'],
    ['raise.request', 'user_mia'],
    ['raise.grant', 'user_olga'],
    ['raise.end', 'budgets'],
    ['budget.workspace.set', 'user_1'],
  ]);
  const read = await budgets.callRaises('get', tenantId, `/${body.id}`);
  expect(read.body).toMatchObject({ state: 'ended', ended_at: until, ended_by: null });
});

it('tells alert rules of each request for a raise once, and of no raise that an owner makes', async () => {
  const tenantId = newTenant();
  await budgets.setDaily(tenantId, '/workspace', 25);
  const until = new Date(budgets.clock.now + 3_600_000).toISOString();
  const asked = { budget_id: 'bud_workspace', extra_micros: 10, until, reason: 'Launch', request_id: 'r-1' };
  const ask = (role: 'member' | 'owner', userId = `user_${role}`) =>
    budgets.callRaises('post', tenantId, '', { role, userId, body: asked });
  await ask('owner');
  const { body } = await ask('member');
  await ask('member');
  // Records of a workspace keep their order, so nothing comes before the last one.
  const last = (await ask('member', 'user_max')).body;
  const events = await eventually(() => {
    const found = budgets.events(tenantId);
    expect(found.at(-1)?.id).toBe(last.id);
    return found;
  });
  expect(events).toHaveLength(2);
  expect(events[0]).toEqual({
    ...{ specversion: '1.0', id: body.id, source: 'tollkeeper/budgets', type: 'raise.requested' },
    time: body.created_at,
    data: {
      ...{ raise_id: body.id, budget_id: 'bud_workspace', budget_name: 'Workspace', extra_micros: 10, until },
      ...{ reason: 'Launch', asked_by: 'user_member' },
    },
  });
});
