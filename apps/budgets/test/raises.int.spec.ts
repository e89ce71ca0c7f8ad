import { afterEach, describe, expect, it } from '@jest/globals';
import { MAX_RAISES, RAISE_LINK_MS, signRaiseLink } from '@tollkeeper/contracts';
import type { TenantId } from '@tollkeeper/kernel';
import { CALLER_TOKEN_SECRET, eventually, useMongo } from '@tollkeeper/testing';
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
  other.clock.now = NOW;
});

const at = (ms: number) => new Date(ms).toISOString();
const MORE = { budget_id: 'bud_workspace', extra_micros: 10, until: at(NOW + HOUR_MS), reason: 'Launch day' };
const KEY = 'k'.repeat(16);

/** A workspace with a daily budget of 15. */
async function newWorkspace(): Promise<TenantId> {
  const tenantId = newTenant();
  await budgets.setDaily(tenantId, '/workspace', 15);
  return tenantId;
}
const post = (tenantId: TenantId, body: object = {}, options: CallOptions = {}) =>
  budgets.callRaises('post', tenantId, '', { body: { ...MORE, ...body }, ...options });
/** Asks as a member does. */
const ask = (tenantId: TenantId, body: object = {}, userId = 'user_mia') =>
  post(tenantId, body, { role: 'member', userId });
const decide = (tenantId: TenantId, id: string, verb: 'approve' | 'decline' | 'end', options: CallOptions = {}) => {
  const bodies = { approve: {}, decline: { reason: 'Wait for next month' }, end: undefined };
  return budgets.callRaises('post', tenantId, `/${id}:${verb}`, { body: bodies[verb], ...options });
};
const listed = async (tenantId: TenantId, query = ''): Promise<Record<string, unknown>[]> =>
  (await budgets.callRaises('get', tenantId, query, { role: 'member' })).body.items;
const stateOf = async (tenantId: TenantId, id: string) =>
  (await budgets.callRaises('get', tenantId, `/${id}`, { role: 'member' })).body.state;
const linkOf = (tenantId: TenantId, raiseId: string, expiresAt = NOW + RAISE_LINK_MS) =>
  signRaiseLink(CALLER_TOKEN_SECRET, { tenantId, raiseId }, expiresAt);
const askWithKey = (tenantId: TenantId, requestId: string, keyId = KEY) =>
  budgets.requestRaise(tenantId, {
    ...{ keyId, requestId, budgetId: 'bud_workspace', extraMicros: 10, until: NOW + HOUR_MS, reason: 'Launch day' },
  });

describe('a raise', () => {
  it('by an owner is in force at once, for the enforcer too, until an owner ends it', async () => {
    const tenantId = await newWorkspace();
    const { status, body } = await post(tenantId, {}, { userId: 'user_olga' });
    const olga = { id: 'user_olga', name: 'user_olga' };
    expect([status, body]).toEqual([
      201,
      {
        ...{ id: expect.stringMatching(/^rai_[0-9A-Za-z]{20}$/), state: 'active', value: null, ...MORE },
        ...{ budget_name: 'Workspace', asked_micros: 10, asked_until: MORE.until, created_at: at(NOW) },
        ...{ asked_by: { type: 'user', ...olga }, decided_by: olga, decided_at: at(NOW), decline_reason: null },
        ...{ ended_by: null, ended_at: null },
      },
    ]);
    const sent = { budgetId: 'bud_workspace', extraMicros: 10, until: NOW + HOUR_MS };
    expect([await budgets.listRaises(tenantId), await other.listRaises(tenantId)]).toEqual([[sent], [sent]]);
    expect(await decide(tenantId, body.id, 'end')).toMatchObject({ status: 200, body: { state: 'ended' } });
    expect(await budgets.listRaises(tenantId)).toEqual([]);
    expect(await decide(tenantId, body.id, 'end')).toMatchObject({ status: 409, body: { code: 'conflict' } });
  });

  it('shows beside the limit of its budget while it is in force, and its sum with others', async () => {
    const tenantId = await newWorkspace();
    const shown = async () => {
      const [one, all] = [
        await budgets.callBudgets('get', tenantId, '/bud_workspace'),
        await budgets.callBudgets('get', tenantId, ''),
      ];
      expect(all.body.items).toEqual([one.body]);
      return [one.body.limit_micros, one.body.raised_micros, one.body.raised_until];
    };
    const soon = at(NOW + HOUR_MS / 2);
    await post(tenantId, { extra_micros: 3, until: soon });
    await post(tenantId);
    await ask(tenantId);
    expect(await shown()).toEqual([15, 13, soon]);
    clock.now = NOW + HOUR_MS / 2;
    expect(await shown()).toEqual([15, 10, MORE.until]);
    clock.now = NOW + HOUR_MS;
    expect(await shown()).toEqual([15, undefined, undefined]);
  });

  it('ends at its time, and a request that nobody decided expires', async () => {
    const tenantId = await newWorkspace();
    const [active, open] = [(await post(tenantId)).body.id, (await ask(tenantId)).body.id];
    clock.now = NOW + HOUR_MS - 1;
    expect(await budgets.listRaises(tenantId)).toHaveLength(1);
    clock.now += 1;
    expect(await budgets.listRaises(tenantId)).toEqual([]);
    expect([await stateOf(tenantId, active), await stateOf(tenantId, open)]).toEqual(['ended', 'expired']);
    expect((await listed(tenantId, '?state=ended')).map(({ id }) => id)).toEqual([active]);
    expect((await listed(tenantId, '?state=expired')).map(({ id }) => id)).toEqual([open]);
    expect(await decide(tenantId, open, 'approve')).toMatchObject({
      ...{ status: 409, body: { error: expect.stringContaining('has expired') } },
    });
  });

  it('is listed in the span in which it was granted, the largest first, and until when it really lasted', async () => {
    const tenantId = await newWorkspace();
    const granted = (from: number, until: number, max = 10) => budgets.listGrantedRaises(tenantId, [from, until], max);
    const small = (await post(tenantId, { extra_micros: 3 }, { userId: 'user_olga' })).body.id;
    const asked = (await ask(tenantId)).body.id;
    const declined = (await ask(tenantId, { extra_micros: 99 })).body.id;
    await decide(tenantId, declined, 'decline');
    clock.now = NOW + 60_000;
    await decide(tenantId, asked, 'approve', { body: { extra_micros: 7 }, userId: 'user_olga' });
    await post(await newWorkspace());
    clock.now = NOW + 120_000;
    await decide(tenantId, small, 'end');
    const budget = { budgetId: 'bud_workspace', budgetName: 'Workspace', grantedBy: 'user_olga' };
    const [ofOlga, ofMia] = [
      { ...budget, raiseId: small, extraMicros: 3, askedBy: 'user_olga', grantedAt: NOW, until: NOW + 120_000 },
      {
        ...{ ...budget, raiseId: asked, extraMicros: 7, askedBy: 'user_mia', grantedAt: NOW + 60_000 },
        until: NOW + HOUR_MS,
      },
    ];
    expect(await granted(NOW, NOW + 60_001)).toEqual({ raises: [ofMia, ofOlga], count: 2, extraMicros: 10 });
    expect(await granted(NOW, NOW + 60_001, 1)).toEqual({ raises: [ofMia], count: 2, extraMicros: 10 });
    expect(await granted(NOW, NOW + 60_000)).toEqual({ raises: [ofOlga], count: 1, extraMicros: 3 });
    expect(await granted(NOW + 60_001, NOW + DAY_MS)).toEqual({ raises: [], count: 0, extraMicros: 0 });
  });

  it('lasts at most 31 days, also one that is approved with another end', async () => {
    const tenantId = await newWorkspace();
    expect((await post(tenantId, { until: at(NOW + 31 * DAY_MS) })).status).toBe(201);
    const { id } = (await ask(tenantId)).body;
    for (const until of [at(NOW + 31 * DAY_MS + 1), at(NOW), 'tomorrow']) {
      const refused = { status: 400, body: { details: [{ path: 'until' }] } };
      expect(await post(tenantId, { until })).toMatchObject(refused);
      expect(await decide(tenantId, id, 'approve', { body: { until } })).toMatchObject(refused);
    }
    expect(await stateOf(tenantId, id)).toBe('requested');
  });

  it('of a budget with a limit for each names the value, and of any other budget none', async () => {
    const tenantId = await newWorkspace();
    const each = { name: 'Users', each: 'label:user', period: { kind: 'month' }, limit_micros: 5 };
    const { id: budget_id } = (await budgets.callBudgets('post', tenantId, '', { body: each })).body;
    const { body } = await post(tenantId, { budget_id, value: 'zoe@example.com' });
    expect(body).toMatchObject({ budget_name: 'Users', value: 'zoe@example.com' });
    expect(await budgets.listRaises(tenantId)).toMatchObject([{ budgetId: budget_id, value: 'zoe@example.com' }]);
    for (const wrong of [{ budget_id }, { value: 'zoe' }]) {
      expect(await ask(tenantId, wrong)).toMatchObject({ status: 400, body: { details: [{ path: 'value' }] } });
    }
    expect(await ask(tenantId, { budget_id: 'bud_plan.none' })).toMatchObject({ status: 404 });
  });

  it.each([
    ['budget_id', { budget_id: 'workspace' }],
    ['value', { value: '' }],
    ['value', { value: 'x'.repeat(129) }],
    ['extra_micros', { extra_micros: 0 }],
    ['extra_micros', { extra_micros: 1.5 }],
    ['reason', { reason: 'two\nlines' }],
    ['reason', { reason: 'x'.repeat(201) }],
    ['request_id', { request_id: 'a b' }],
    ['token', { token: 'x' }],
  ])('names %s if it is wrong: %j', async (path, wrong) => {
    expect(await ask(await newWorkspace(), wrong)).toMatchObject({ status: 400, body: { details: [{ path }] } });
  });

  it('is of one workspace: others neither see nor decide it', async () => {
    const [tenantId, stranger] = [await newWorkspace(), await newWorkspace()];
    const { id } = (await ask(tenantId)).body;
    expect([await listed(stranger), await budgets.listRaises(stranger)]).toEqual([[], []]);
    for (const verb of ['approve', 'decline', 'end'] as const) {
      expect((await decide(stranger, id, verb)).status).toBe(404);
    }
    expect(await stateOf(tenantId, id)).toBe('requested');
  });

  it('is listed newest first, page by page', async () => {
    const tenantId = await newWorkspace();
    const ids: string[] = [];
    for (let made = 0; made < 5; made += 1) {
      ids.unshift((await post(tenantId)).body.id);
      clock.now += made % 2;
    }
    const found: string[] = [];
    for (let cursor: string | null = ''; cursor !== null;) {
      const query = `?limit=2${cursor && `&cursor=${cursor}`}`;
      const { body } = await budgets.callRaises('get', tenantId, query);
      found.push(...body.items.map(({ id }: { id: string }) => id));
      cursor = body.next_cursor;
    }
    expect(found.toSorted()).toEqual(ids.toSorted());
    expect([found[0], new Set(found).size]).toEqual([ids[0], 5]);
  });
});

describe('a request', () => {
  it.each(['member', 'admin'] as const)('of a %s grants nothing, and only an owner decides it', async (role) => {
    const tenantId = await newWorkspace();
    const { body } = await post(tenantId, {}, { role, userId: 'user_mia' });
    expect(body).toMatchObject({ state: 'requested', decided_by: null, asked_by: { id: 'user_mia' } });
    expect(await budgets.listRaises(tenantId)).toEqual([]);
    for (const verb of ['approve', 'decline', 'end'] as const) {
      expect((await decide(tenantId, body.id, verb, { role })).status).toBe(403);
    }
    const granted = { extra_micros: 7, until: at(NOW + HOUR_MS / 2) };
    expect((await decide(tenantId, body.id, 'approve', { body: granted, userId: 'user_olga' })).body).toMatchObject({
      ...{ state: 'active', ...granted, asked_micros: 10, asked_until: MORE.until },
      decided_by: { id: 'user_olga' },
    });
    expect(await budgets.listRaises(tenantId)).toMatchObject([{ extraMicros: 7, until: NOW + HOUR_MS / 2 }]);
  });

  it('that is declined says why, and grants nothing', async () => {
    const tenantId = await newWorkspace();
    const { id } = (await ask(tenantId)).body;
    expect((await decide(tenantId, id, 'decline')).body).toMatchObject({
      ...{ state: 'declined', decline_reason: 'Wait for next month' },
    });
    expect(await budgets.listRaises(tenantId)).toEqual([]);
  });

  it.each([
    ['', () => ({})],
    [' by its link', (tenantId: TenantId, id: string) => ({ token: linkOf(tenantId, id) })],
  ])('is decided once%s, by whoever is first at any replica; the others learn who that was', async (_how, linkIn) => {
    const tenantId = await newWorkspace();
    const { id } = (await ask(tenantId)).body;
    const link = linkIn(tenantId, id);
    const owners = ['ann', 'bob', 'eve', 'zoe'];
    const decideAt = (replica: typeof budgets, index: number) => {
      const [verb, body] = index % 2 === 0 ? (['approve', {}] as const) : (['decline', { reason: 'No' }] as const);
      const options = { body: { ...body, ...link }, userId: `user_${owners[index]}` };
      return replica.callRaises('post', tenantId, `/${id}:${verb}`, options);
    };
    const answers = await Promise.all(
      owners.map((_owner, index) =>
        eventually(async () => {
          const answer = await decideAt(index < 2 ? budgets : other, index);
          if (answer.status === 503) throw new Error('Again');
          return answer;
        }),
      ),
    );
    const first = answers.filter(({ status }) => status === 200);
    expect(first).toHaveLength(1);
    const { name } = first[0]!.body.decided_by;
    const late = answers.filter(({ status }) => status === 409);
    expect(late).toHaveLength(3);
    for (const { body } of late)
      expect(body).toMatchObject({ error: expect.stringMatching(new RegExp(`^${name} has `)) });
  });

  it('that is sent again is the same one; other content is refused, and others may use the id', async () => {
    const tenantId = await newWorkspace();
    const same = { request_id: 'r-1' };
    const answers = await Promise.all([1, 2, 3].map(() => ask(tenantId, same)));
    expect(new Set(answers.map(({ status, body }) => `${status} ${body.id}`)).size).toBe(1);
    expect(await ask(tenantId, { ...same, extra_micros: 11 })).toMatchObject({
      ...{ status: 409, body: { code: 'request_id_reused' } },
    });
    expect((await ask(tenantId, same, 'user_max')).status).toBe(201);
    expect(await listed(tenantId)).toHaveLength(2);
  });

  it('of a workspace key is of that key, repeats included', async () => {
    const tenantId = await newWorkspace();
    const answer = await askWithKey(tenantId, 'r-1');
    expect(answer).toEqual({
      ...{ raiseId: expect.stringMatching(/^rai_/), state: 'requested', extraMicros: 10, until: NOW + HOUR_MS },
    });
    await decide(tenantId, answer.raiseId, 'approve', { body: { extra_micros: 4 } });
    expect(await askWithKey(tenantId, 'r-1')).toEqual({ ...answer, state: 'active', extraMicros: 4 });
    expect(await listed(tenantId)).toMatchObject([{ asked_by: { type: 'key', id: KEY } }]);
  });

  it('finds its place however many one key has sent, and the key has one again after an hour', async () => {
    const tenantId = await newWorkspace();
    const flood = await Promise.all(
      Array.from({ length: 40 }, (_, index) =>
        askWithKey(tenantId, `r-${index}`).then(
          () => 'taken',
          ({ code }: { code: string }) => code,
        ),
      ),
    );
    expect(flood.filter((each) => each === 'taken')).toHaveLength(5);
    expect(new Set(flood)).toEqual(new Set(['taken', 'rate_limited']));
    expect((await ask(tenantId)).status).toBe(201);
    expect(await askWithKey(tenantId, 'r-1', 'm'.repeat(16))).toMatchObject({ state: 'requested' });
    for (const { id } of await listed(tenantId)) await decide(tenantId, String(id), 'decline');
    await expect(askWithKey(tenantId, 'later')).rejects.toMatchObject({ code: 'rate_limited' });
    clock.now = NOW + HOUR_MS - 1_000;
    await expect(askWithKey(tenantId, 'later')).rejects.toMatchObject({ code: 'rate_limited' });
    clock.now = NOW + HOUR_MS;
    await expect(askWithKey(tenantId, 'later')).rejects.toMatchObject({ code: 'invalid_request' });
  });

  it(`has no more than ${MAX_RAISES} others that are open, and ${MAX_RAISES} raises are in force at most`, async () => {
    const tenantId = await newWorkspace();
    for (let index = 0; index < MAX_RAISES; index += 1) await ask(tenantId, {}, `user_${index}`);
    expect(await ask(tenantId)).toMatchObject({ status: 429, body: { code: 'rate_limited' } });
    const open = await listed(tenantId, '?state=requested&limit=100');
    expect(open).toHaveLength(MAX_RAISES);
    for (let index = 1; index < MAX_RAISES; index += 1) expect((await post(tenantId)).status).toBe(201);
    const replicas = [budgets, other];
    const approvals = await Promise.all(
      open.slice(0, 4).map(({ id }, index) =>
        eventually(async () => {
          const { status } = await replicas[index % 2]!.callRaises('post', tenantId, `/${String(id)}:approve`, {
            body: {},
          });
          if (status === 503) throw new Error('Again');
          return status;
        }),
      ),
    );
    expect(approvals.toSorted()).toEqual([200, 409, 409, 409]);
    expect(await post(tenantId)).toMatchObject({ status: 409, body: { code: 'conflict' } });
    expect(await budgets.listRaises(tenantId)).toHaveLength(MAX_RAISES);
  });
});

describe('the link of a request', () => {
  it('decides it once within an hour, and then says who has', async () => {
    const tenantId = await newWorkspace();
    const { id } = (await ask(tenantId)).body;
    const token = linkOf(tenantId, id);
    clock.now = NOW + HOUR_MS - 1_000;
    // Reading changes nothing, as programs do that look at the links of mails.
    await budgets.callRaises('get', tenantId, `/${id}?token=${token}`);
    const body = { token, until: at(NOW + 2 * HOUR_MS) };
    expect((await decide(tenantId, id, 'approve', { body })).status).toBe(200);
    for (const again of ['approve', 'decline'] as const) {
      const answer = await decide(tenantId, id, again, {
        body: { token, ...(again === 'decline' && { reason: 'No' }) },
      });
      expect(answer).toMatchObject({ status: 409, body: { error: expect.stringMatching(/^user_1 has approved/) } });
    }
  });

  it('is refused once it has expired, and the request can be decided without it', async () => {
    const tenantId = await newWorkspace();
    const { id } = (await ask(tenantId, { until: at(NOW + DAY_MS) })).body;
    clock.now = NOW + RAISE_LINK_MS;
    const answer = await decide(tenantId, id, 'approve', { body: { token: linkOf(tenantId, id) } });
    expect(answer).toMatchObject({
      ...{ status: 400, body: { details: [{ path: 'token', message: expect.stringContaining('has expired') }] } },
    });
    expect(await stateOf(tenantId, id)).toBe('requested');
    expect((await decide(tenantId, id, 'approve')).status).toBe(200);
  });

  it('is refused if it is forged, altered, of another request or of another workspace', async () => {
    const [tenantId, stranger] = [await newWorkspace(), await newWorkspace()];
    const [id, another] = [(await ask(tenantId)).body.id, (await ask(tenantId)).body.id];
    const good = linkOf(tenantId, id);
    const later = linkOf(tenantId, id, NOW + DAY_MS).slice(0, -43);
    const forged = signRaiseLink('another-secret-with-enough-bytes-in-it', { tenantId, raiseId: id }, NOW + HOUR_MS);
    const wrong = [
      forged,
      linkOf(tenantId, another),
      linkOf(stranger, id),
      `${later}${good.slice(-43)}`,
      '',
      'tk_raise_',
    ];
    for (const token of [...wrong, good.slice(0, -1)]) {
      for (const verb of ['approve', 'decline'] as const) {
        const body = { token, ...(verb === 'decline' && { reason: 'No' }) };
        const answer = await decide(tenantId, id, verb, { body });
        expect(answer).toMatchObject({ status: 400, body: { details: [{ path: 'token' }] } });
      }
    }
    expect(await stateOf(tenantId, id)).toBe('requested');
  });

  it('gives nobody a right: the link of a request does not let a member or an admin decide it', async () => {
    const tenantId = await newWorkspace();
    const { id } = (await ask(tenantId)).body;
    for (const role of ['member', 'admin'] as const) {
      expect((await decide(tenantId, id, 'approve', { role, body: { token: linkOf(tenantId, id) } })).status).toBe(403);
    }
    expect(await stateOf(tenantId, id)).toBe('requested');
  });

  it('is nowhere in the database', async () => {
    const tenantId = await newWorkspace();
    const { id } = (await ask(tenantId)).body;
    const token = linkOf(tenantId, id);
    await decide(tenantId, id, 'approve', { body: { token } });
    const signature = token.slice(-43);
    for (const name of ['raises', 'raise_revisions', 'audit_outbox']) {
      expect(JSON.stringify(await budgets.collection(name).find().toArray())).not.toContain(signature);
    }
  });
});
