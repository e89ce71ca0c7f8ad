import { createHmac } from 'node:crypto';
import { beforeAll, describe, expect, it } from '@jest/globals';
import type { Role } from '@tollkeeper/kernel';
import type { OpenApiDocument } from '@tollkeeper/testing';
import { behindTheEdge } from '@tollkeeper/topology';
import { type ApiClient, type ApiRequest, anonymous, logIn, openApiOf } from '../api.client.ts';
import { readEverything } from '../api.reads.ts';
import { spendSettled } from '../events.ts';
import type { TargetOf } from '../target.ts';
import { EVENTS_PATH, KEYS_PATH, type TestWorkspace, newMember, newWorkspace, postEvents } from '../workspace.ts';

const DRILLDOWNS = [
  '/overview',
  '/spend',
  '/spend/series',
  '/spend/breakdown?by=agent',
  '/export',
  '/top-agents',
  '/top-agents/details?agent_id=agent-a',
  '/budget-blocked',
  '/budget-blocked/details?run_id=run-1',
  '/guard-blocked',
  '/guard-blocked/details?run_id=run-1',
].map((path) => `/api/v1/dashboard${path}`);

const TERMS = { selector: {}, period: { kind: 'day' }, limit_micros: 1 };
const BUDGET = { name: 'Refused', ...TERMS };

/** Well-formed calls to every area; `role` is the lowest that they need. */
const CALLS: (ApiRequest & { role?: Role })[] = [
  { path: '/api/v1/auth/me' },
  { path: '/api/v1/workspaces' },
  { method: 'POST', path: '/api/v1/workspaces', body: { slug: 'refused', name: 'Refused' } },
  { method: 'PATCH', path: '/api/v1/workspace', body: { name: 'Refused' }, role: 'owner' },
  { path: '/api/v1/members', role: 'owner' },
  { method: 'POST', path: '/api/v1/members', body: { email: 'a@b.example', role: 'member' }, role: 'owner' },
  { method: 'DELETE', path: '/api/v1/members/user_1', role: 'owner' },
  { path: '/api/v1/invitations', role: 'owner' },
  { method: 'POST', path: '/api/v1/invitations', body: { email: 'a@b.example', role: 'owner' }, role: 'owner' },
  { method: 'DELETE', path: '/api/v1/invitations/inv_1', role: 'owner' },
  { path: '/api/v1/agents', role: 'member' },
  { method: 'POST', path: '/api/v1/agents', body: { agent_id: 'x', display_name: 'X' }, role: 'owner' },
  { method: 'PATCH', path: '/api/v1/agents/x', body: { labels: {} }, role: 'owner' },
  ...DRILLDOWNS.map((path) => ({ path, role: 'member' as const })),
  { method: 'POST', path: '/api/v1/dashboard/budget-preview', body: TERMS, role: 'member' },
  { path: '/api/v1/budgets', role: 'member' },
  { path: '/api/v1/budgets/bud_workspace', role: 'member' },
  { method: 'POST', path: '/api/v1/budgets', body: BUDGET, role: 'owner' },
  { method: 'PATCH', path: '/api/v1/budgets/bud_workspace', body: { limit_micros: 1 }, role: 'owner' },
  { method: 'DELETE', path: '/api/v1/budgets/bud_workspace', role: 'owner' },
  { path: KEYS_PATH, role: 'owner' },
  { method: 'POST', path: KEYS_PATH, body: { name: 'x', role: 'admin' }, role: 'owner' },
  { method: 'PATCH', path: `${KEYS_PATH}/key_1`, body: { labels: {} }, role: 'owner' },
  { method: 'POST', path: `${KEYS_PATH}/key_1:revoke`, role: 'owner' },
  { path: '/api/v1/intake-reports', role: 'member' },
  { path: '/api/v1/alerts/rules', role: 'admin' },
  { method: 'POST', path: '/api/v1/alerts/silences', body: {}, role: 'admin' },
  { method: 'POST', path: '/api/v1/alerts/channels', body: {}, role: 'admin' },
];

const nameOf = ({ method = 'GET', path }: ApiRequest) => `${method} ${path}`;
const ALL = CALLS.map((call) => [nameOf(call), call] as const);
const IN_WORKSPACE = CALLS.flatMap(({ role, ...call }) =>
  role === undefined ? [] : [[nameOf(call), role, call] as const],
);

export function describeRefusals(target: TargetOf): void {
  describe('refusals', () => {
    let owner: ApiClient;
    let member: ApiClient;
    let workspace: TestWorkspace;
    let foreign: TestWorkspace;
    /** The call with the path of a workspace. */
    const within = (slug: string, call: ApiRequest): ApiRequest => ({ ...call, path: `/w/${slug}${call.path}` });

    beforeAll(async () => {
      owner = await logIn(target(), target().owner);
      workspace = await newWorkspace(owner);
      foreign = await newWorkspace(owner);
      member = await newMember(target(), owner, workspace, 'member');
    });

    describe('401', () => {
      it.each(ALL)('without a session: %s', async (_name, call) => {
        expect(await anonymous(target()).call(call)).toMatchObject({ status: 401, body: { code: 'unauthenticated' } });
      });

      it.each(ALL)('with a workspace key in place of a session: %s', async (_name, call) => {
        const authorization = `Bearer ${workspace.apiKey}`;
        const headers = { authorization, cookie: `gw_session=${workspace.apiKey}` };
        expect((await anonymous(target()).call({ ...call, headers })).status).toBe(401);
      });

      it('with a session in place of a workspace key, on event ingestion', async () => {
        const body = spendSettled({ amountMicros: 1 });
        const headers = { 'content-type': 'application/cloudevents+json' };
        const answer = await owner.call({ method: 'POST', path: EVENTS_PATH, body, headers });
        expect(answer).toMatchObject({ status: 401, body: { code: 'unauthenticated' } });
      });

      it.each(['', 'Bearer', 'Bearer ws_live_x.y', 'Basic YTpi', `Bearer ws_live_${'a'.repeat(16)}.${'b'.repeat(42)}`])(
        'on event ingestion with "Authorization: %s"',
        async (authorization) => {
          const headers = { 'content-type': 'application/cloudevents+json', authorization };
          const body = spendSettled({ amountMicros: 1 });
          const answer = await anonymous(target()).call({ method: 'POST', path: EVENTS_PATH, body, headers });
          expect(answer.status).toBe(401);
        },
      );

      it.each(forgedCallerTokens())('with a caller token forged as %s', async (_how, token) => {
        const headers = { 'x-tollkeeper-caller': token };
        for (const path of ['/api/v1/workspaces', `/w/demo${KEYS_PATH}`, '/w/demo/api/v1/dashboard/spend']) {
          expect((await anonymous(target()).call({ path, headers })).status).toBe(401);
        }
      });
    });

    describe('403', () => {
      it.each(IN_WORKSPACE)('in a workspace of others, and in none, alike: %s', async (_name, _role, call) => {
        const answers = [
          await member.call(within(foreign.slug, call)),
          await member.call(within('no-such-workspace', call)),
        ].map(({ status, body }) => ({ status, ...(body as object), request_id: '' }));
        expect(answers[0]).toMatchObject({ status: 403, code: 'forbidden' });
        expect(answers[0]).toEqual(answers[1]);
      });

      it.each(IN_WORKSPACE.filter(([, role]) => role !== 'member'))(
        'for a member, where more is needed: %s (%s)',
        async (_name, _role, call) => {
          const answer = await member.call(within(workspace.slug, call));
          expect(answer).toMatchObject({ status: 403, body: { code: 'forbidden' } });
        },
      );

      it('for finance, every change; it reads everything', async () => {
        const finance = await newMember(target(), owner, workspace, 'finance');
        const changes = changesOf(await openApiOf(target()), workspace);
        expect(changes.length).toBeGreaterThan(40);
        for (const change of changes) {
          const answer = await finance.call({ ...change, body: {} });
          expect([nameOf(change), answer.status]).toEqual([nameOf(change), 403]);
        }
        let reads = 0;
        for await (const { status } of readEverything(target(), finance, workspace.slug))
          reads += Number(status === 200);
        expect(reads).toBeGreaterThan(30);
        expect((await finance.call({ method: 'DELETE', path: workspace.path('/members/me') })).status).toBe(204);
      });

      it('with a forged caller token beside the own session: the own rights count', async () => {
        for (const [, token] of forgedCallerTokens()) {
          const headers = { 'x-tollkeeper-caller': token };
          const keys = await member.call({ path: `/w/${workspace.slug}${KEYS_PATH}`, headers });
          expect(keys.status).toBe(403);
        }
      });
    });

    describe('404, 405 and 410', () => {
      it.each(['/api/v1/nothing', '/api/v2/workspaces', '/w/demo/api/v1/auth/me', '/w/demo/api', '/docs/nothing'])(
        'an unknown path: %s',
        async (path) => {
          expect(await owner.call({ path })).toMatchObject({ status: 404, body: { code: 'not_found' } });
        },
      );

      it.each([
        ['PUT', '/api/v1/auth/login', 'POST'],
        ['DELETE', '/api/v1/workspaces', 'GET'],
        ['PUT', 'agents', 'GET'],
        ['PUT', 'members', 'GET'],
        ['PUT', 'invitations', 'POST'],
        ['PATCH', '/api/v1/invitations/tk_invite_x', 'GET'],
        ['POST', 'dashboard/spend', 'GET'],
        ['DELETE', 'dashboard/top-agents', 'GET'],
        ['DELETE', 'management/workspace-keys', 'POST'],
        ['PUT', 'alerts/rules', 'POST'],
        ['DELETE', 'alerts/system', 'GET'],
        ['GET', '/api/v1/execute', 'POST'],
        ['POST', '/openapi.json', 'GET'],
      ])('a known path with another method: %s %s', async (method, path, allowed) => {
        const answer = await owner.call({ method, path: path.startsWith('/') ? path : workspace.path(`/${path}`) });
        expect(answer).toMatchObject({ status: 405, body: { code: 'method_not_allowed' } });
        expect(answer.headers.allow).toContain(allowed);
      });

      it('execute is gone, with a session and without', async () => {
        for (const client of [owner, anonymous(target())]) {
          const { status, body } = await client.call({ method: 'POST', path: '/api/v1/execute' });
          expect({ status, fields: Object.keys(body as object) }).toEqual({ status: 410, fields: ['error'] });
        }
      });
    });

    describe('409', () => {
      it.each([
        ['/api/v1/workspaces', () => ({ slug: workspace.slug, name: 'Again' })],
        ['members', () => ({ email: target().owner.email, role: 'admin' })],
        ['invitations', () => ({ email: target().owner.email, role: 'admin' })],
      ])('what is taken: %s', async (path, body) => {
        const where = path.startsWith('/') ? path : workspace.path(`/${path}`);
        const answer = await owner.call({ method: 'POST', path: where, body: body() });
        expect(answer).toMatchObject({ status: 409, body: { code: 'conflict' } });
      });

      it('the last owner stays', async () => {
        type Members = { items: { user_id: string; role: string }[] };
        const { items } = await owner.expect<Members>({ path: workspace.path('/members') });
        const path = workspace.path(`/members/${items.find(({ role }) => role === 'owner')?.user_id}`);
        expect((await owner.call({ method: 'DELETE', path })).status).toBe(409);
        expect((await owner.call({ method: 'DELETE', path: workspace.path('/members/me') })).status).toBe(409);
        expect((await owner.call({ method: 'PATCH', path, body: { role: 'member' } })).status).toBe(409);
      });
    });

    describe('413 and 415', () => {
      const MIB = 1024 * 1024;

      it.each([
        ['POST', '/api/v1/auth/login'],
        ['POST', '/api/v1/workspaces'],
        ['POST', 'agents'],
        ['POST', 'management/workspace-keys'],
      ])('a body over 1 MiB: %s %s', async (method, path) => {
        const where = path.startsWith('/') ? path : workspace.path(`/${path}`);
        const answer = await owner.call({ method, path: where, body: { name: 'x'.repeat(MIB) } });
        expect(answer).toMatchObject({ status: 413, body: { code: 'payload_too_large' } });
      });

      it('events over 5 MiB', async () => {
        const headers = { 'content-type': 'application/cloudevents+json', authorization: `Bearer ${workspace.apiKey}` };
        const body = JSON.stringify({ data: 'x'.repeat(5 * MIB) });
        const answer = await anonymous(target()).call({ method: 'POST', path: EVENTS_PATH, body, headers });
        expect(answer).toMatchObject({ status: 413, body: { code: 'payload_too_large' } });
      });

      it.each(['text/plain', 'application/x-www-form-urlencoded', 'multipart/form-data; boundary=x', ''])(
        'a body that is not JSON: "%s"',
        async (type) => {
          const body = '{"slug":"refused","name":"Refused"}';
          const headers = { 'content-type': type };
          const answer = await owner.call({ method: 'POST', path: '/api/v1/workspaces', body, headers });
          expect(answer).toMatchObject({ status: 415, body: { code: 'unsupported_media_type' } });
        },
      );

      it('plain JSON on event ingestion', async () => {
        const headers = { 'content-type': 'application/json', authorization: `Bearer ${workspace.apiKey}` };
        const body = spendSettled({ amountMicros: 1 });
        const answer = await anonymous(target()).call({ method: 'POST', path: EVENTS_PATH, body, headers });
        expect(answer.status).toBe(415);
      });
    });

    it('one bad event refuses the batch and is named by its index', async () => {
      const good = spendSettled({ amountMicros: 1 });
      const bad = spendSettled({ amountMicros: -1 });
      const answer = await postEvents(target(), workspace.apiKey, [good, bad]);
      expect(answer).toMatchObject({ status: 400, body: { details: [{ path: '[1].data.amount_micros' }] } });
    });
  });
}

/** The operations of the document that change something in the workspace, but for those that every role may use. */
function changesOf({ paths = {} }: OpenApiDocument, { id, slug }: TestWorkspace): ApiRequest[] {
  return Object.entries(paths).flatMap(([path, item]) =>
    Object.entries(item)
      .filter(([, operation]) => isChange(operation as Operation))
      .map(([method]) => {
        const named = path.replace('{tenant_id}', id).replaceAll(/\{\w+\}/g, 'x_1');
        return { method: method.toUpperCase(), path: `/w/${slug}${named}` };
      }),
  );
}

interface Operation {
  'x-required-role'?: string;
  'x-audit-action'?: string;
}

function isChange({ 'x-required-role': role = 'any', 'x-audit-action': action }: Operation): boolean {
  return action !== undefined && !['any', 'finance'].includes(role);
}

/** Tokens like the gateway's own, but signed with another secret. */
function forgedCallerTokens(): [string, string][] {
  const encode = (value: unknown) => Buffer.from(JSON.stringify(value)).toString('base64url');
  const now = Math.floor(Date.now() / 1000);
  const aud = ['tollkeeper', ...behindTheEdge().map((service) => `tollkeeper:${service}`)];
  const claims = { sub: 'user_1', tenant: 'ws_1', role: 'owner', aud, iat: now, exp: now + 60 };
  const unsigned = `${encode({ alg: 'HS256' })}.${encode(claims)}`;
  const signature = createHmac('sha256', 'a guess of the secret').update(unsigned).digest('base64url');
  return [
    ['signed with a guess', `${unsigned}.${signature}`],
    ['unsigned (alg none)', `${encode({ alg: 'none' })}.${encode(claims)}.`],
    ['rubbish', 'not-a-token'],
  ];
}
