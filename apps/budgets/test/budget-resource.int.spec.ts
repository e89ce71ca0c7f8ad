import { describe, expect, it } from '@jest/globals';
import type { TenantId } from '@tollkeeper/kernel';
import { useMongo } from '@tollkeeper/testing';
import { MAX_BUDGETS } from '../src/domain/budget.ts';
import { BOB, budgetCalls, PER_USER, TEAM } from './budget.calls.ts';
import { newTenant, useBudgets } from './budgets.stack.ts';

const mongo = useMongo();
const budgets = useBudgets(mongo);
const replica = useBudgets(mongo, budgets.database);

const { post, patch, read, remove, made, listed } = budgetCalls(budgets);
const generationOf = async (tenantId: TenantId) => (await budgets.listActiveBudgets(tenantId))[0]?.generation;

describe('creating a budget', () => {
  it('answers 201 with the budget and its defaults, which a read and the list then have', async () => {
    const tenantId = newTenant();
    const created = await post(tenantId, TEAM);
    const now = new Date(budgets.clock.now).toISOString();

    expect(created.status).toBe(201);
    expect(created.body).toEqual({
      id: expect.stringMatching(/^bud_[0-9A-Za-z]{20}$/),
      ...TEAM,
      ...{ description: '', each: null, overrides: null, action: 'deny', grace_percent: 0, tell_at: null },
      ...{ is_active: true, origin: null, created_at: now, updated_at: now },
    });
    expect((await read(tenantId, created.body.id)).body).toEqual(created.body);
    expect(await listed(tenantId)).toEqual([created.body]);
  });

  it('keeps every field as it was given, with percentages in ascending order', async () => {
    const tenantId = newTenant();
    const fields = {
      ...{ name: 'All', description: 'Every field', selector: {}, each: 'model', period: { kind: 'week' } },
      ...{ limit_micros: Number.MAX_SAFE_INTEGER, action: 'warn', grace_percent: 20, is_active: false },
    };
    const { id } = await made(tenantId, { ...fields, tell_at: [120, 1, 95] });
    expect((await read(tenantId, id)).body).toMatchObject({ ...fields, tell_at: [1, 95, 120] });
  });

  it.each([
    ['hours', { kind: 'hour' }, { kind: 'hour' }],
    ['months', { kind: 'month' }, { kind: 'month', start_day: 1 }],
    ['fiscal quarters', { kind: 'quarter', start_month: 2 }, { kind: 'quarter', start_month: 2, start_day: 1 }],
    ['years', { kind: 'year', start_day: 28 }, { kind: 'year', start_month: 1, start_day: 28 }],
    ['the last hour', { kind: 'rolling', seconds: 3600 }, { kind: 'rolling', seconds: 3600 }],
    [
      'a time of its own',
      { kind: 'once', start: '2020-01-01T00:00:00+01:00', end: '2027-01-01T00:00:00Z' },
      { kind: 'once', start: '2019-12-31T23:00:00.000Z', end: '2027-01-01T00:00:00.000Z' },
    ],
  ])('takes %s', async (_case, period, stored) => {
    const tenantId = newTenant();
    const { id } = await made(tenantId, { ...TEAM, period });
    expect((await read(tenantId, id)).body.period).toEqual(stored);
  });

  it('selects every call without a selector', async () => {
    const tenantId = newTenant();
    const { selector } = await made(tenantId, { ...TEAM, selector: undefined });
    expect(selector).toEqual({});
    expect(await budgets.listActiveBudgets(tenantId)).toMatchObject([{ selector: { labels: {} } }]);
  });

  it('lets names repeat', async () => {
    const tenantId = newTenant();
    await made(tenantId, TEAM);
    await made(tenantId, TEAM);
  });

  it.each([
    ['a blank name', { name: ' ' }, 'name'],
    ['a field that it does not know', { limit: 5 }, 'limit'],
    ['a negative limit', { limit_micros: -1 }, 'limit_micros'],
    ['a limit beyond what JSON numbers carry exactly', { limit_micros: 2 ** 53 }, 'limit_micros'],
    ['a limit in a string', { limit_micros: '5' }, 'limit_micros'],
    ['null as the selector', { selector: null }, 'selector'],
    ['a pattern as the selector', { selector: 'claude-*' }, 'selector'],
    ['a dimension that it does not know', { selector: { user: 'bob' } }, 'selector.user'],
    ['an operator object', { selector: { agent: { $gt: '' } } }, 'selector.agent'],
    ['an agent that can not be', { selector: { agent: 'my agent' } }, 'selector.agent'],
    ['a plan that is too long', { selector: { plan: 'p'.repeat(65) } }, 'selector.plan'],
    ['a key that is too short', { selector: { key: 'abc' } }, 'selector.key'],
    ['a star in the middle', { selector: { agent: 'a*b' } }, 'selector.agent'],
    ['an empty pattern', { selector: { model: '' } }, 'selector.model'],
    ['a model of too many bytes', { selector: { model: 'é'.repeat(128) } }, 'selector.model'],
    ['the name of a label that can not be', { selector: { labels: { Team: 'x' } } }, 'selector.labels.Team'],
    ['a label with a space at its end', { selector: { labels: { team: 'x ' } } }, 'selector.labels.team'],
    ['an unknown each', { each: 'user' }, 'each'],
    ['an each of a label without a name', { each: 'label:' }, 'each'],
    ['an unknown kind of period', { period: { kind: 'decade' } }, 'period.kind'],
    ['a period without a kind', { period: {} }, 'period.kind'],
    ['a field of another period', { period: { kind: 'day', start_day: 1 } }, 'period.start_day'],
    ['a fiscal day 31', { period: { kind: 'month', start_day: 31 } }, 'period.start_day'],
    ['a fiscal month 13', { period: { kind: 'year', start_month: 13 } }, 'period.start_month'],
    ['a period of no seconds', { period: { kind: 'rolling', seconds: 0 } }, 'period.seconds'],
    ['seconds that are no multiple of 60', { period: { kind: 'rolling', seconds: 3601 } }, 'period.seconds'],
    ['an end before the start', { period: once('2028-01-01', '2027-01-01') }, 'period.end'],
    ['an end that is past', { period: once('2020-01-01', '2020-02-01') }, 'period.end'],
    ['an unknown action', { action: 'block' }, 'action'],
    ['a grace above 100', { grace_percent: 101 }, 'grace_percent'],
    ['no percentage at all', { tell_at: [] }, 'tell_at'],
    ['more than 5 percentages', { tell_at: [1, 2, 3, 4, 5, 6] }, 'tell_at'],
    ['a percentage twice', { tell_at: [80, 80] }, 'tell_at'],
    ['half a percentage', { tell_at: [80.5] }, 'tell_at[0]'],
    ['a percentage beyond the grace', { tell_at: [100, 111], grace_percent: 10 }, 'tell_at'],
    ['a budget to override that there is not', { overrides: 'bud_00000000000000000000' }, 'overrides'],
    ['a daily budget to override', { overrides: 'bud_workspace' }, 'overrides'],
  ])('refuses %s and names the field', async (_case, fields, path) => {
    const tenantId = newTenant();
    const refused = await post(tenantId, { ...TEAM, ...fields });
    expect(refused).toMatchObject({ status: 400, body: { code: 'invalid_request', details: [{ path }] } });
    expect(refused.body.error).toContain(refused.body.details[0].message);
    expect(await listed(tenantId)).toEqual([]);
  });

  it(`lets a workspace have ${MAX_BUDGETS}, however many calls on however many replicas ask at once`, async () => {
    const tenantId = newTenant();
    for (let count = 0; count < MAX_BUDGETS - 5; count += 1) await post(tenantId, TEAM);
    const both = [budgets, replica].flatMap((on) =>
      Array.from({ length: 6 }, () => on.callBudgets('post', tenantId, '', { body: TEAM })),
    );
    const statuses = (await Promise.all(both)).map(({ status }) => status);
    // An odd number is free, so replicas that took turns in pairs would make one too many.
    expect(statuses.filter((status) => status === 201)).toHaveLength(5);
    expect(statuses.filter((status) => status === 409)).toHaveLength(7);
    expect(await budgets.listActiveBudgets(tenantId)).toHaveLength(MAX_BUDGETS);

    const refused = await post(tenantId, TEAM);
    expect(refused).toMatchObject({ status: 409, body: { code: 'conflict' } });
    expect(refused.body.error).toContain('Delete one');
    await remove(tenantId, (await listed(tenantId))[0]?.['id'] as string);
    expect((await post(tenantId, TEAM)).status).toBe(201);
  });
});

describe('a patch', () => {
  it.each([
    ['a field alone', { limit_micros: 7 }, { limit_micros: 7 }],
    ['null, as the default', { description: null, action: null }, { description: '', action: 'deny' }],
    [
      'the values of a selector one by one',
      { selector: { model: null, agent: 'a-*', labels: { team: null, env: 'prod' } } },
      { selector: { agent: 'a-*', labels: { 'cost.center': '42', env: 'prod' } } },
    ],
    ['the last label', { selector: { labels: null } }, { selector: { model: 'claude-*' } }],
    ['the start of a period', { period: { start_day: 6 } }, { period: { kind: 'month', start_day: 6 } }],
    ['the kind of a period', { period: { kind: 'week' } }, { period: { kind: 'week' } }],
    ['percentages as a whole', { tell_at: [60, 30] }, { tell_at: [30, 60] }],
    ['nothing', {}, {}],
  ])('changes %s and no other field', async (_case, body, expected) => {
    const tenantId = newTenant();
    const before = await made(tenantId, { ...TEAM, description: 'D', action: 'warn', tell_at: [90] });
    budgets.clock.now += 1000;
    const changed = await patch(tenantId, before.id, body);
    const updatedAt = new Date(budgets.clock.now).toISOString();
    expect([changed.status, changed.body]).toEqual([200, { ...before, ...expected, updated_at: updatedAt }]);
    expect((await read(tenantId, before.id)).body).toEqual(changed.body);
  });

  it.each([
    [{ name: null }, 'name'],
    [{ selector: null }, 'selector'],
    [{ selector: 'claude-*' }, 'selector'],
    [{ selector: { labels: { team: 5 } } }, 'selector.labels.team'],
    [{ selector: { labels: { team: ' ' } } }, 'selector.labels.team'],
    [{ selector: { agent: '$' } }, 'selector.agent'],
    [{ period: null }, 'period'],
    [{ period: { kind: null } }, 'period.kind'],
    [{ period: { start_day: 29 } }, 'period.start_day'],
    [{ period: { start_month: 2 } }, 'period.start_month'],
    [{ period: once('2020-01-01', '2020-02-01') }, 'period.end'],
    [{ limit_micros: null }, 'limit_micros'],
    [{ limit_micros: 0.5 }, 'limit_micros'],
    [{ grace_percent: 0 }, 'tell_at'],
    [{ tell_at: 90 }, 'tell_at'],
    [{ is_active: 'yes' }, 'is_active'],
    [{ each: ['agent'] }, 'each'],
    [{ id: 'bud_other' }, 'id'],
    [{ origin: 'plan' }, 'origin'],
    [{ generation: 7 }, 'generation'],
  ])('of %j is refused, and names the field', async (body, path) => {
    const tenantId = newTenant();
    const before = await made(tenantId, { ...TEAM, grace_percent: 10, tell_at: [105] });
    expect(await patch(tenantId, before.id, body)).toMatchObject({ status: 400, body: { details: [{ path }] } });
    expect((await read(tenantId, before.id)).body).toEqual(before);
  });

  it('takes effect beside others of other fields at the same time, on every replica', async () => {
    const tenantId = newTenant();
    const { id } = await made(tenantId, TEAM);
    const changes = [{ name: 'Other' }, { description: 'other' }, { limit_micros: 7 }, { selector: { agent: 'a' } }];
    const answers = await Promise.all(
      changes.map((body, index) => [budgets, replica][index % 2]!.callBudgets('patch', tenantId, `/${id}`, { body })),
    );
    expect(answers.map(({ status }) => status)).toEqual([200, 200, 200, 200]);
    expect((await read(tenantId, id)).body).toMatchObject(Object.assign({}, ...changes));
  });

  it('can rename a budget whose time is over', async () => {
    const tenantId = newTenant();
    const { id } = await made(tenantId, { ...TEAM, period: once('2026-01-01', '2026-12-31') });
    budgets.clock.now = Date.parse('2027-01-01T00:00:00Z');
    expect(await patch(tenantId, id, { name: 'Ended', is_active: false })).toMatchObject({ status: 200 });
    const later = { period: { end: '2026-12-30T00:00:00Z' } };
    expect(await patch(tenantId, id, later)).toMatchObject({
      status: 400,
      body: { details: [{ path: 'period.end' }] },
    });
  });

  it.each([
    ['another selector', { selector: { agent: 'a' } }],
    ['fewer labels', { selector: { labels: null } }],
    ['another each', { each: 'agent' }],
    ['another kind of period', { period: { kind: 'week' } }],
    ['a period of its own', { period: once('2026-01-01', '2028-01-01') }],
    ['a rolling period', { period: { kind: 'rolling', seconds: 3600 } }],
  ])('to %s lets spend be counted anew', async (_case, body) => {
    const tenantId = newTenant();
    const { id } = await made(tenantId, TEAM);
    expect(await generationOf(tenantId)).toBe(1);
    expect((await patch(tenantId, id, body)).status).toBe(200);
    expect(await generationOf(tenantId)).toBe(2);
  });

  it.each([
    ['of seconds', { period: { kind: 'rolling', seconds: 3600 } }, { period: { seconds: 7200 } }],
    ['of a start', { period: once('2026-01-01', '2028-01-01') }, { period: { start: '2026-01-02T00:00:00Z' } }],
    ['of an end', { period: once('2026-01-01', '2028-01-01') }, { period: { end: '2028-01-02T00:00:00Z' } }],
  ])('%s lets spend be counted anew', async (_case, fields, body) => {
    const tenantId = newTenant();
    const { id } = await made(tenantId, { ...TEAM, ...fields });
    expect((await patch(tenantId, id, body)).status).toBe(200);
    expect(await generationOf(tenantId)).toBe(2);
  });

  it('to any other field, or to the start of the fiscal calendar, leaves the count as it is', async () => {
    const tenantId = newTenant();
    const { id: split } = await made(tenantId, { ...PER_USER, is_active: false });
    const { id } = await made(tenantId, { ...BOB, selector: { labels: { user: 'bob' } }, period: { kind: 'quarter' } });
    const other = { name: 'N', description: 'D', limit_micros: 1, action: 'warn', grace_percent: 5, tell_at: [1] };
    for (const body of [
      { ...other, overrides: split },
      { period: { start_month: 4, start_day: 6 } },
      { is_active: true, selector: { labels: { user: 'bob' } } },
      {},
    ]) {
      expect((await patch(tenantId, id, body)).status).toBe(200);
    }
    expect(await generationOf(tenantId)).toBe(1);
  });

  it('that switches it on lets spend be counted anew, once', async () => {
    const tenantId = newTenant();
    const { id } = await made(tenantId, TEAM);
    for (const is_active of [false, true, true]) {
      expect((await patch(tenantId, id, { is_active })).status).toBe(200);
    }
    expect(await generationOf(tenantId)).toBe(2);
  });
});

describe('a budget that there is not', () => {
  const revisionOf = async (tenantId: TenantId) => {
    const database = mongo.connection.getClient().db(budgets.database);
    return (await database.collection<{ _id: string; revision: number }>('budget_revisions').findOne({ _id: tenantId }))
      ?.revision;
  };

  it('is not changed, and no change of the workspace is counted', async () => {
    const tenantId = newTenant();
    const { id } = await made(newTenant(), TEAM);
    const gone = await made(tenantId, TEAM);
    await remove(tenantId, gone.id);
    for (const unknown of [id, gone.id]) {
      expect((await patch(tenantId, unknown, { limit_micros: 1 })).status).toBe(404);
      expect((await remove(tenantId, unknown)).status).toBe(404);
    }
    expect(await revisionOf(tenantId)).toBe(2);
  });

  it('is made by each of the first calls of a workspace on two replicas at once', async () => {
    const tenantId = newTenant();
    const created = await Promise.all(
      [budgets, replica, budgets, replica].map((on) => on.callBudgets('post', tenantId, '', { body: TEAM })),
    );
    expect(created.map(({ status }) => status)).toEqual([201, 201, 201, 201]);
    expect(await revisionOf(tenantId)).toBe(4);
  });
});

describe('a budget that the workspace does not have', () => {
  it('is 404, also when another workspace has it, which keeps it', async () => {
    const other = newTenant();
    const budget = await made(other, TEAM);
    const tenantId = newTenant();
    for (const id of [budget.id, 'bud_none', 'bud_workspace', 'bud_agent.a', 'bud_plan.p', 'bud_plan.x']) {
      for (const answer of [
        await read(tenantId, id),
        await patch(tenantId, id, { limit_micros: 1 }),
        await remove(tenantId, id),
      ]) {
        expect(answer).toMatchObject({ status: 404, body: { code: 'not_found' } });
      }
    }
    expect(await listed(tenantId)).toEqual([]);
    expect(await listed(other)).toEqual([budget]);
  });

  it('is 404 once it is deleted', async () => {
    const tenantId = newTenant();
    const { id } = await made(tenantId, TEAM);
    expect((await remove(tenantId, id)).status).toBe(204);
    expect([(await remove(tenantId, id)).status, (await read(tenantId, id)).status]).toEqual([404, 404]);
  });

  it.each(['%00', '%24ne', '%ff', 'b'.repeat(139)])('and can not have, such as %s, is 400', async (id) => {
    const tenantId = newTenant();
    expect((await read(tenantId, id)).status).toBe(400);
    expect((await remove(tenantId, id)).status).toBe(400);
  });
});

function once(start: string, end: string) {
  return { kind: 'once', start: `${start}T00:00:00Z`, end: `${end}T00:00:00Z` };
}
