import { describe, expect, it } from '@jest/globals';
import type { TenantId } from '@tollkeeper/kernel';
import { useMongo } from '@tollkeeper/testing';
import { MAX_PLANS } from '../src/domain/plan.ts';
import { newTenant, useBudgets } from './budgets.stack.ts';

const mongo = useMongo();
const budgets = useBudgets(mongo);

const RESEARCH = {
  plan_key: 'research_tier',
  display_name: 'Research',
  description: 'Interactive work\nof the research team',
  daily_budget_usd_micros: 5_000_000,
};

const create = (tenantId: TenantId, fields: Record<string, unknown> = {}) =>
  budgets.call('post', tenantId, '/plans', { body: { ...RESEARCH, ...fields } });

describe('creating a plan', () => {
  it('answers 201 with the active plan, which the list then has', async () => {
    const tenantId = newTenant();
    const created = await create(tenantId);
    const now = new Date(budgets.clock.now).toISOString();

    expect(created.status).toBe(201);
    expect(created.body).toEqual({
      id: expect.stringMatching(/^plan_[0-9A-Za-z]{20}$/),
      tenant_id: tenantId,
      ...RESEARCH,
      is_active: true,
      created_at: now,
      updated_at: now,
    });
    expect(await budgets.list(tenantId, '/plans')).toEqual([created.body]);
  });

  it('takes the shortest and the longest of every field', async () => {
    const tenantId = newTenant();
    const short = { plan_key: '0', display_name: 'R', daily_budget_usd_micros: 0 };
    const shortest = await budgets.call('post', tenantId, '/plans', { body: short });
    expect([shortest.status, shortest.body]).toMatchObject([201, { ...short, description: '' }]);

    const long = { plan_key: 'k'.repeat(64), display_name: 'n'.repeat(120), description: 'd'.repeat(1000) };
    const longest = await create(tenantId, { ...long, daily_budget_usd_micros: Number.MAX_SAFE_INTEGER });
    expect([longest.status, longest.body]).toMatchObject([201, long]);
  });

  it.each([
    ['a key with capitals', { plan_key: 'Research' }, 'plan_key'],
    ['a key that begins with a hyphen', { plan_key: '-research' }, 'plan_key'],
    ['a key with a line break', { plan_key: 'research\n' }, 'plan_key'],
    ['a key of 65 characters', { plan_key: 'k'.repeat(65) }, 'plan_key'],
    ['an empty key', { plan_key: '' }, 'plan_key'],
    ['an operator object as key', { plan_key: { $gt: '' } }, 'plan_key'],
    ['a blank name', { display_name: ' ' }, 'display_name'],
    ['a name of 121 characters', { display_name: 'n'.repeat(121) }, 'display_name'],
    ['a description of 1001 characters', { description: 'd'.repeat(1001) }, 'description'],
    ['a control character in the description', { description: 'a\u0007b' }, 'description'],
    ['a negative budget', { daily_budget_usd_micros: -1 }, 'daily_budget_usd_micros'],
    ['no budget', { daily_budget_usd_micros: null }, 'daily_budget_usd_micros'],
    ['a budget that is absent', { daily_budget_usd_micros: undefined }, 'daily_budget_usd_micros'],
    ['a field that it does not know', { tenant_id: 'ws_other' }, 'tenant_id'],
  ])('refuses %s and names the field', async (_case, fields, path) => {
    const tenantId = newTenant();
    expect(await create(tenantId, fields)).toMatchObject({ status: 400, body: { details: [{ path }] } });
    expect(await budgets.list(tenantId, '/plans')).toEqual([]);
  });

  it('lets one of many creations with one key through, and answers 409 to all others', async () => {
    const tenantId = newTenant();
    const answers = await Promise.all(Array.from({ length: 8 }, (_, n) => create(tenantId, { display_name: `n${n}` })));

    expect(answers.map(({ status }) => status).toSorted()).toEqual([201, ...Array.from({ length: 7 }, () => 409)]);
    const winner = answers.find(({ status }) => status === 201);
    expect(await budgets.list(tenantId, '/plans')).toEqual([winner?.body]);
    expect(await create(tenantId)).toMatchObject({
      status: 409,
      body: { code: 'conflict', details: [{ path: 'plan_key' }] },
    });
  });

  it('lets every workspace have the same key', async () => {
    expect((await create(newTenant())).status).toBe(201);
    expect((await create(newTenant())).status).toBe(201);
  });

  it('refuses a plan beyond the most that a workspace may have, until one is deleted', async () => {
    const tenantId = newTenant();
    for (let from = 0; from < MAX_PLANS; from += 50) {
      await Promise.all(Array.from({ length: 50 }, (_, n) => create(tenantId, { plan_key: `plan-${from + n}` })));
    }

    expect((await create(tenantId)).status).toBe(409);
    await budgets.call('delete', tenantId, '/plans/plan-0');
    expect((await create(tenantId)).status).toBe(201);
  });
});

describe('listing plans', () => {
  it('shows those of the workspace alone, by key', async () => {
    const tenantId = newTenant();
    await create(newTenant(), { plan_key: 'foreign' });
    for (const key of ['b', 'c', 'a']) await create(tenantId, { plan_key: key });
    expect((await budgets.list(tenantId, '/plans')).map((plan) => plan['plan_key'])).toEqual(['a', 'b', 'c']);
  });
});

describe('changing a plan', () => {
  it.each([
    ['display_name', 'Development'],
    ['description', ''],
    ['daily_budget_usd_micros', 0],
    ['is_active', false],
  ])('changes %s and no other field', async (field, value) => {
    const tenantId = newTenant();
    const { body: created } = await create(tenantId);
    budgets.clock.now += 1000;

    const changed = await budgets.put(tenantId, '/plans/research_tier', { [field]: value });

    const updatedAt = new Date(budgets.clock.now).toISOString();
    expect([changed.status, changed.body]).toEqual([200, { ...created, [field]: value, updated_at: updatedAt }]);
    expect(await budgets.list(tenantId, '/plans')).toEqual([changed.body]);
  });

  it('turns a plan off and on again', async () => {
    const tenantId = newTenant();
    await create(tenantId);
    for (const isActive of [false, true]) {
      const { body } = await budgets.put(tenantId, '/plans/research_tier', { is_active: isActive });
      expect(body).toMatchObject({ ...RESEARCH, is_active: isActive });
    }
  });

  it('loses none of several changes of different fields at once', async () => {
    const tenantId = newTenant();
    await create(tenantId);
    const changes = [{ display_name: 'Other' }, { description: 'other' }, { is_active: false }];
    await Promise.all(changes.map((change) => budgets.put(tenantId, '/plans/research_tier', change)));
    expect(await budgets.list(tenantId, '/plans')).toMatchObject([Object.assign({}, ...changes)]);
  });

  it.each([
    ['plan_key', 'other'],
    ['id', 'plan_x'],
    ['display_name', ''],
    ['description', null],
    ['daily_budget_usd_micros', -1],
    ['daily_budget_usd_micros', null],
    ['is_active', 'yes'],
    ['is_active', { $ne: true }],
  ])('refuses %s: %j', async (field, value) => {
    const tenantId = newTenant();
    const { body: created } = await create(tenantId);
    const refused = await budgets.put(tenantId, '/plans/research_tier', { [field]: value });
    expect(refused).toMatchObject({ status: 400, body: { details: [{ path: field }] } });
    expect(await budgets.list(tenantId, '/plans')).toEqual([created]);
  });
});

describe('deleting a plan', () => {
  it('answers 204 once, 404 from then on, and frees the key', async () => {
    const tenantId = newTenant();
    await create(tenantId);
    const remove = async () => (await budgets.call('delete', tenantId, '/plans/research_tier')).status;

    expect(await remove()).toBe(204);
    expect(await budgets.list(tenantId, '/plans')).toEqual([]);
    expect(await remove()).toBe(404);
    expect((await create(tenantId)).status).toBe(201);
  });
});

describe('a key that the workspace does not have', () => {
  it('is 404 on PUT and DELETE, also when another workspace has it', async () => {
    const other = newTenant();
    const { body: created } = await create(other);
    expect((await budgets.put(newTenant(), '/plans/research_tier', { is_active: false })).status).toBe(404);
    expect((await budgets.call('delete', newTenant(), '/plans/research_tier')).status).toBe(404);
    expect(await budgets.list(other, '/plans')).toEqual([created]);
  });

  it.each(['%00', '%24ne', 'Research', 'k'.repeat(65)])('that can not be one, such as %s, is 400', async (key) => {
    expect((await budgets.put(newTenant(), `/plans/${key}`, {})).status).toBe(400);
    expect((await budgets.call('delete', newTenant(), `/plans/${key}`)).status).toBe(400);
  });
});
