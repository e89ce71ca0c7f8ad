import { beforeAll, describe, expect, it } from '@jest/globals';
import { type ApiAnswer, type ApiClient, anonymous, logIn } from '../api.client.ts';
import { spendSettled } from '../events.ts';
import type { TargetOf } from '../target.ts';
import { EVENTS_PATH, KEYS_PATH, type TestWorkspace, newWorkspace } from '../workspace.ts';

const DASHBOARD = [
  '/overview',
  '/spend',
  '/spend/series',
  '/spend/breakdown',
  '/top-agents',
  '/export',
  '/top-agents/details',
  '/budget-blocked',
  '/budget-blocked/details',
  '/guard-blocked',
  '/guard-blocked/details',
];

/** Queries that every drilldown refuses. */
const BAD_QUERIES = [
  'timezone=Mars/Olympus',
  'timezone=',
  'timezone=%00',
  'range=today&range=1m',
  'timezone=UTC&timezone=UTC',
];

/** Valid JSON texts that are never a valid request. */
const BAD_BODIES: [string, string][] = [
  [
    'an operator in place of a string',
    '{"name":{"$gt":""},"slug":{"$ne":null},"email":{"$gt":""},"password":{"$gt":""}}',
  ],
  ['an array in place of an object', '[]'],
  ['null', 'null'],
  ['a string', '"text"'],
  ['a number', '1e999'],
  ['__proto__', '{"__proto__":{"role":"owner"}}'],
  ['constructor.prototype', '{"constructor":{"prototype":{"role":"owner"}}}'],
  ['deep nesting', `${'[{"a":'.repeat(2_000)}1${'}]'.repeat(2_000)}`],
  ['an unknown field', '{"name":"x","role":"admin","nmae":"x"}'],
  ['empty', '{}'],
];

/** An answer that lists every problem with its path. */
const INVALID = {
  status: 400,
  body: {
    code: 'invalid_request',
    details: expect.arrayContaining([{ path: expect.any(String), message: expect.any(String) }]) as unknown,
  },
};

const MALFORMED = ['{', '{"a":1', '{"a":1}}', "{'a':1}", '\u0000', '{"a":undefined}', 'null,', '\ufeff{}}'];

const RUBBISH_SEGMENTS = [
  '%00',
  '%zz',
  '%',
  '%ff%fe',
  '%2e%2e%2f',
  '..%2f..%2fetc',
  '%252e',
  '%0d%0aset-cookie:x=1',
  '$where',
];

export function describeRubbish(target: TargetOf): void {
  describe('rubbish is answered with a 4xx that says what is wrong', () => {
    let owner: ApiClient;
    let workspace: TestWorkspace;
    const expectRefused = ({ status, text }: ApiAnswer) => {
      if (status < 400 || status > 499) throw new Error(`expected a 4xx, got ${status} ${text}`);
    };

    beforeAll(async () => {
      owner = await logIn(target(), target().owner);
      workspace = await newWorkspace(owner);
    });

    describe.each(DASHBOARD)('query of %s', (path) => {
      it.each(BAD_QUERIES)('%s', async (query) => {
        const ids = 'agent_id=a&run_id=r';
        const answer = await owner.call({ path: workspace.path(`/dashboard${path}?${ids}&${query}`) });
        expect(answer).toMatchObject(INVALID);
      });
    });

    it.each([
      '/top-agents/details',
      '/top-agents/details?agent_id=',
      '/top-agents/details?agent_id[$ne]=x',
      '/top-agents/details?agent_id=a&agent_id=b',
      '/top-agents/details?agent_id=%24where',
      '/export?format=xlsx',
      '/export?group_by=agent&group_by=model',
      '/top-agents?limit=0',
      '/top-agents?limit=101',
      '/top-agents?limit=1.5',
      '/top-agents?limit=ten',
      '/budget-blocked?cursor=rubbish',
      '/guard-blocked?cursor=eyJhIjoxfQ',
      '/guard-blocked?limit=-1',
      '/budget-blocked/details',
      '/guard-blocked/details?event_id=',
    ])('400: %s', async (path) => {
      const answer = await owner.call({ path: workspace.path(`/dashboard${path}`) });
      expect(answer).toMatchObject({ status: 400, body: { code: 'invalid_request' } });
    });

    const writes: [string, string][] = [
      ['POST', '/api/v1/auth/login'],
      ['POST', '/api/v1/auth/forgot'],
      ['POST', '/api/v1/workspaces'],
      ['PATCH', 'workspace'],
      ['POST', 'members'],
      ['POST', 'invitations'],
      ['POST', '/api/v1/invitations/tk_invite_x:accept'],
      ['PATCH', 'members/user_1'],
      ['POST', 'agents'],
      ['PATCH', 'agents/agent-a'],
      ['POST', 'management/workspace-keys'],
      ['PATCH', 'management/workspace-keys/key_1'],
      ['POST', 'alerts/rules'],
      ['POST', 'alerts/channels'],
      ['POST', 'alerts/silences'],
      ['POST', 'alerts/maintenance-windows'],
      ['POST', 'budgets'],
      ['PUT', 'prices'],
      ['POST', 'prices:reprice'],
      ['POST', 'dashboard/budget-preview'],
      ['PUT', '/api/v1/workspaces/TENANT/budgets/workspace'],
      ['PUT', '/api/v1/workspaces/TENANT/budgets/agents/agent-a'],
      ['POST', '/api/v1/workspaces/TENANT/budgets/plans'],
    ];
    const where = (path: string) =>
      path.startsWith('/') ? path.replace('TENANT', workspace.id) : workspace.path(`/${path}`);

    describe.each(writes)('%s %s', (method, path) => {
      // A logged-in user accepts an invitation with an empty body, so that body is valid there.
      const bodies = BAD_BODIES.filter(([what]) => what !== 'empty' || !path.endsWith(':accept'));
      it.each(bodies)('400 for a body that is %s', async (_what, body) => {
        const answer = await owner.call({ method, path: where(path), body });
        expect(answer).toMatchObject({ status: 400 });
      });

      it.each(MALFORMED)('400 for malformed JSON: %j', async (body) => {
        const answer = await owner.call({ method, path: where(path), body });
        expect(answer.status).toBe(400);
        expect(answer.body).toMatchObject({ code: expect.stringMatching(/^(malformed_json|invalid_request)$/) });
      });
    });

    it('a __proto__ in an otherwise good body neither counts nor sticks', async () => {
      const body = '{"name":"proto","role":"read_only","__proto__":{"role":"admin"}}';
      const answer = await owner.call({ method: 'POST', path: workspace.path('/management/workspace-keys'), body });
      expect(answer.status).toBe(400);
      const next = await owner.call({
        method: 'POST',
        path: workspace.path('/management/workspace-keys'),
        body: { name: 'after proto' },
      });
      expect(next.status).toBe(400);
    });

    describe.each(RUBBISH_SEGMENTS)('%s in a path', (rubbish) => {
      it.each([
        ['GET', `/w/${rubbish}/api/v1/dashboard/spend`],
        ['GET', `/api/v1/${rubbish}`],
        ['GET', `/docs/${rubbish}`],
        ['GET', `/api/v1/workspaces/${rubbish}/budgets/workspace`],
        ['PUT', `/api/v1/workspaces/TENANT/budgets/agents/${rubbish}`],
        ['DELETE', `/api/v1/workspaces/TENANT/budgets/plans/${rubbish}`],
        ['GET', `/w/SLUG/api/v1/budgets/${rubbish}`],
        ['PATCH', `/w/SLUG/api/v1/budgets/${rubbish}`],
        ['DELETE', `/w/SLUG/api/v1/budgets/bud_agent.${rubbish}`],
        ['POST', `/w/SLUG${KEYS_PATH}/${rubbish}:revoke`],
        ['DELETE', `/w/SLUG/api/v1/members/${rubbish}`],
        ['DELETE', `/w/SLUG/api/v1/invitations/${rubbish}`],
        ['GET', `/api/v1/invitations/tk_${rubbish}`],
        ['GET', `/api/v1/alert-mails/tk_${rubbish}`],
        ['PATCH', `/w/SLUG/api/v1/agents/${rubbish}`],
        ['GET', `/w/SLUG/api/v1/dashboard/${rubbish}`],
        ['GET', `/w/SLUG/api/v1/alerts/${rubbish}`],
        ['DELETE', `/w/SLUG/api/v1/alerts/rules/${rubbish}`],
        ['POST', `/w/SLUG/api/v1/alerts/channels/${rubbish}/test`],
      ])('%s %s', async (method, path) => {
        const body = { PATCH: { display_name: 'x' }, PUT: { daily_budget_usd_micros: 1 } }[method];
        const there = path.replace('SLUG', workspace.slug).replace('TENANT', workspace.id);
        expectRefused(await owner.call({ method, path: there, body }));
      });
    });

    it.each(['x-workspace', 'x-request-id', 'cookie', 'accept', 'content-encoding', 'traceparent'])(
      'an odd %s header is no reason to fail',
      async (name) => {
        for (const value of ['%00', '{"$gt":""}', 'a'.repeat(4_000), ',,,;;;===']) {
          const { status } = await owner.call({ path: '/api/v1/workspaces', headers: { [name]: value } });
          expect(status).toBeLessThan(500);
        }
      },
    );

    describe('events', () => {
      const post = (body: string, type = 'application/cloudevents+json') => {
        const headers = { 'content-type': type, authorization: `Bearer ${workspace.apiKey}` };
        return anonymous(target()).call({ method: 'POST', path: EVENTS_PATH, body, headers });
      };
      const good = spendSettled({ amountMicros: 5 });
      const changed = (change: Record<string, unknown>, data: Record<string, unknown> = {}) =>
        JSON.stringify({ ...good, ...change, data: { ...good.data, ...data } });

      it.each([
        ['another version', changed({ specversion: '0.3' })],
        ['an operator as id', changed({ id: { $gt: '' } })],
        ['an id with blanks', changed({ id: 'a b' })],
        ['no source', changed({ source: undefined })],
        ['a type that is none', changed({ type: 'Spend Settled' })],
        ['a time without an offset', changed({ time: '2026-11-21T10:00:00' })],
        ['a time that does not exist', changed({ time: '2026-02-30T10:00:00Z' })],
        ['a time an hour ahead', changed({ time: new Date(Date.now() + 3_600_000).toISOString() })],
        ['a tenant of its own', changed({ tenant_id: 'ws_other' })],
        ['negative spend', changed({}, { amount_micros: -1 })],
        ['broken micros', changed({}, { amount_micros: 0.5 })],
        ['spend beyond what JSON carries exactly', changed({}, { amount_micros: 2 ** 53 })],
        ['spend as text', changed({}, { amount_micros: '5' })],
        ['an operator as agent', changed({}, { agent_id: { $ne: '' } })],
        ['an unknown field', changed({}, { amount_usd: 1 })],
        ['no data', JSON.stringify({ ...good, data: null })],
        ['a scope that is none', changed({ type: 'budget.blocked' })],
      ])('400 for %s', async (_what, body) => {
        expect(await post(body)).toMatchObject(INVALID);
      });

      it.each(['[]', '{}', '[1]', 'null', `[${'{},'.repeat(1_000)}{}]`])('400 for a batch of %.20s', async (body) => {
        expect((await post(body, 'application/cloudevents-batch+json')).status).toBe(400);
      });

      it.each(MALFORMED)('400 for malformed JSON: %j', async (body) => {
        expect((await post(body)).status).toBe(400);
      });
    });
  });
}
