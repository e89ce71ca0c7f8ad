import { afterEach, describe, expect, it } from '@jest/globals';
import { MAX_PAUSES } from '@tollkeeper/contracts';
import type { TenantId } from '@tollkeeper/kernel';
import { eventually, useMongo } from '@tollkeeper/testing';
import { type CallOptions, newTenant, useBudgets } from './budgets.stack.ts';

const mongo = useMongo();
const budgets = useBudgets(mongo);
const other = useBudgets(mongo, budgets.database);
const { clock } = budgets;
const NOW = clock.now;
const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
afterEach(() => {
  clock.now = NOW;
});

const at = (ms: number) => new Date(ms).toISOString();
const LOOPS = { scope: 'agent', value: 'night-shift', reason: 'Loops since 14:00' };
const post = (tenantId: TenantId, body: object, options: CallOptions = {}) =>
  budgets.callPauses('post', tenantId, '', { role: 'admin', body, ...options });
const end = (tenantId: TenantId, id: string) => budgets.callPauses('delete', tenantId, `/${id}`, { role: 'admin' });
const listed = async (tenantId: TenantId): Promise<Record<string, unknown>[]> =>
  (await budgets.callPauses('get', tenantId, '', { role: 'member' })).body.items;
/** The scopes and values that the enforcer gets. */
const enforced = async (tenantId: TenantId) =>
  (await budgets.listPauses(tenantId)).map(({ scope, value }) => `${scope} ${value}`);

describe('a pause', () => {
  it('is answered, listed for members, and sent with the budgets, until somebody ends it', async () => {
    const tenantId = newTenant();
    const until = at(NOW + HOUR_MS);
    const { status, body } = await post(tenantId, { ...LOOPS, until }, { userId: 'user_7' });
    expect([status, body]).toEqual([
      201,
      {
        ...{ id: expect.stringMatching(/^pau_[0-9A-Za-z]{20}$/), ...LOOPS, until, created_at: at(NOW) },
        paused_by: { id: 'user_7', name: 'user_7' },
      },
    ]);
    expect(await listed(tenantId)).toEqual([body]);
    const sent = { id: body.id, ...LOOPS, pausedBy: 'user_7', createdAt: NOW, until: NOW + HOUR_MS };
    expect(await budgets.listPauses(tenantId)).toEqual([sent]);
    expect(await other.listPauses(tenantId)).toEqual([sent]);
    expect((await end(tenantId, body.id)).status).toBe(204);
    expect([await listed(tenantId), await enforced(tenantId)]).toEqual([[], []]);
    expect(await end(tenantId, body.id)).toMatchObject({ status: 404, body: { code: 'not_found' } });
  });

  it('ends at its time: it is no longer listed, sent or found, and its place is free', async () => {
    const tenantId = newTenant();
    const { body } = await post(tenantId, { ...LOOPS, until: at(NOW + HOUR_MS) });
    clock.now = NOW + HOUR_MS - 1;
    expect(await listed(tenantId)).toHaveLength(1);
    clock.now = NOW + HOUR_MS;
    expect([await listed(tenantId), await enforced(tenantId)]).toEqual([[], []]);
    expect((await end(tenantId, body.id)).status).toBe(404);
    expect((await post(tenantId, LOOPS)).body.id).not.toBe(body.id);
  });

  it('lasts 31 days unless it says how long, and never longer', async () => {
    const tenantId = newTenant();
    expect((await post(tenantId, LOOPS)).body.until).toBe(at(NOW + 31 * DAY_MS));
    const most = { ...LOOPS, until: at(NOW + 31 * DAY_MS) };
    expect((await post(tenantId, most)).status).toBe(201);
    for (const until of [at(NOW + 31 * DAY_MS + 1), at(NOW), at(NOW - DAY_MS), 'tomorrow']) {
      const refused = await post(newTenant(), { ...LOOPS, until });
      expect(refused).toMatchObject({ status: 400, body: { details: [{ path: 'until' }] } });
    }
  });

  it('of what is paused already is that pause, with the new time, reason and person', async () => {
    const tenantId = newTenant();
    const first = (await post(tenantId, { ...LOOPS, until: at(NOW + HOUR_MS) })).body;
    clock.now += 1_000;
    const longer = { ...LOOPS, reason: 'Still loops', until: at(NOW + DAY_MS) };
    const { body } = await post(tenantId, longer, { userId: 'user_2' });
    expect(body).toEqual({ ...first, ...longer, paused_by: { id: 'user_2', name: 'user_2' } });
    expect(await listed(tenantId)).toEqual([body]);
  });

  it('is of one workspace: others neither see nor end it', async () => {
    const [tenantId, stranger] = [newTenant(), newTenant()];
    const { id } = (await post(tenantId, LOOPS)).body;
    expect([await listed(stranger), await enforced(stranger)]).toEqual([[], []]);
    expect((await end(stranger, id)).status).toBe(404);
    expect(await enforced(tenantId)).toEqual(['agent night-shift']);
  });

  it.each([
    ['scope', { scope: 'plan' }],
    ['scope', { scope: 'label:' }],
    ['scope', { scope: 'label:Team' }],
    ['scope', { scope: `label:${'a'.repeat(33)}` }],
    ['scope', { scope: 'constructor' }],
    ['scope', { scope: 'x'.repeat(65) }],
    ['value', { value: '' }],
    ['value', { value: 'a b' }],
    ['value', { value: 'x'.repeat(129) }],
    ['value', { scope: 'key', value: 'night-shift' }],
    ['value', { scope: 'label:team', value: ' growth' }],
    ['value', { scope: 'label:team', value: 'gro\u202ewth' }],
    ['value', { value: { $ne: 'x' } }],
    ['reason', { reason: '   ' }],
    ['reason', { reason: 'x'.repeat(201) }],
    ['reason', { reason: 'two\nlines' }],
    ['reason', { reason: 'txt.\u202eexe' }],
    ['reason', { reason: '\ud83d' }],
    ['reason', { reason: undefined }],
    ['agent_id', { agent_id: 'planner' }],
  ])('names %s if it is wrong: %j', async (path, wrong) => {
    const tenantId = newTenant();
    const answer = await post(tenantId, { ...LOOPS, ...wrong });
    expect(answer).toMatchObject({ status: 400, body: { details: [{ path }] } });
    expect(await enforced(tenantId)).toEqual([]);
  });

  it.each([
    ['label:constructor', '__proto__'],
    ['label:a.b-c_1', '📈 $team.growth'],
    ['agent', '__proto__'],
    ['key', '0123456789abcdEF'],
  ])('may be of %s %s', async (scope, value) => {
    const tenantId = newTenant();
    const { status, body } = await post(tenantId, { ...LOOPS, scope, value, reason: ' 99 % “loops” 📈 ' });
    expect([status, body.reason]).toEqual([201, '99 % “loops” 📈']);
    expect(await enforced(tenantId)).toEqual([`${scope} ${value}`]);
    expect((await end(tenantId, body.id)).status).toBe(204);
  });
});

it('a workspace has at most 100 pauses, from two replicas at once, and each target only one', async () => {
  const tenantId = newTenant();
  const replicas = [budgets, other];
  const asked = Array.from({ length: MAX_PAUSES + 20 }, (_, index) => index);
  /** Again while the replica cannot say, as a person does. */
  const pause = (index: number, value = `agent-${index}`) =>
    eventually(async () => {
      const body = { ...LOOPS, value };
      const { status } = await replicas[index % 2]!.callPauses('post', tenantId, '', { role: 'admin', body });
      if (status === 503 || status === 429) throw new Error(String(status));
      return status;
    });
  await Promise.all(asked.slice(0, 20).map((index) => pause(index, 'the-same')));
  expect(await enforced(tenantId)).toEqual(['agent the-same']);
  const statuses = await Promise.all(asked.map((index) => pause(index)));
  expect(statuses.filter((status) => status === 201)).toHaveLength(MAX_PAUSES - 1);
  expect(new Set(statuses)).toEqual(new Set([201, 409]));
  expect(await budgets.listPauses(tenantId)).toHaveLength(MAX_PAUSES);
  expect(await post(tenantId, { ...LOOPS, value: 'one-more' })).toMatchObject({
    status: 409,
    body: { code: 'conflict' },
  });
  // What is paused already takes no further place.
  expect((await post(tenantId, { ...LOOPS, value: 'the-same', reason: 'Again' })).status).toBe(201);
  clock.now = NOW + 31 * DAY_MS;
  expect((await post(tenantId, { ...LOOPS, value: 'one-more' })).status).toBe(201);
  const stored = await budgets.collection('pauses').findOne({ _id: tenantId as never });
  expect(stored?.['pauses']).toHaveLength(1);
});
