import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import request from 'supertest';
import type { Seen, Stack } from './stack.fixture.ts';
import { cookieOf, startStack } from './stack.fixture.ts';

let stack: Stack;
beforeAll(async () => {
  stack = await startStack();
});
afterAll(() => stack.stop());

type Method = 'get' | 'post' | 'put' | 'patch' | 'delete';

function call(method: Method, path: string, as?: string) {
  const http = request(stack.gateway.httpUrl)[method](path);
  return as === undefined ? http : http.set('cookie', cookieOf(as));
}

const TENANT_PATHS: [Method, string][] = [
  ['get', '/api/v1/dashboard/spend'],
  ['get', '/api/v1/agents'],
  ['post', '/api/v1/agents'],
  ['get', '/api/v1/members'],
  ['delete', '/api/v1/members/me'],
  ['post', '/api/v1/invitations'],
  ['delete', '/api/v1/invitations/inv_1'],
  ['patch', '/api/v1/workspace'],
  ['get', '/api/v1/alerts'],
  ['get', '/api/v1/management/workspace-keys'],
  ['get', '/api/v1/intake-reports'],
  ['get', '/api/v1/workspaces/ws_acme/budgets/workspace'],
  ['get', '/api/v1/budgets'],
  ['delete', '/api/v1/budgets/bud_1'],
  ['get', '/api/v1/prices'],
  ['put', '/api/v1/prices'],
  ['get', '/api/v1/pauses'],
  ['post', '/api/v1/pauses'],
  ['delete', '/api/v1/pauses/pau_1'],
  ['get', '/api/v1/raises'],
  ['post', '/api/v1/raises'],
  ['post', '/api/v1/raises/rai_1:approve'],
  ['get', '/api/v1/limits'],
  ['get', '/api/v1/limits/leases'],
  ['post', '/api/v1/limits/leases/lse_1:return'],
  ['get', '/api/v1/limits/reservations'],
  ['post', '/api/v1/limits/reservations/rsv_1:release'],
];

describe('401', () => {
  it.each([...TENANT_PATHS, ['get', '/api/v1/auth/me'], ['get', '/api/v1/workspaces']] as [Method, string][])(
    'without a valid session: %s %s',
    async (method, path) => {
      for (const answer of [
        await call(method, path),
        await call(method, path, 'nobody'),
        await call(method, path).set('cookie', 'gw_session=rubbish'),
        await call(method, path).set('authorization', 'Bearer ws_live_0123456789abcdef.0123456789'),
      ]) {
        expect(answer.status).toBe(401);
        expect(answer.body).toEqual({
          error: expect.any(String),
          code: 'unauthenticated',
          request_id: answer.headers['x-request-id'],
        });
      }
    },
  );

  it('comes before everything that the body could say', async () => {
    const answer = await call('post', '/w/acme/api/v1/agents').type('text/plain').send('{');
    expect(answer.status).toBe(401);
  });
});

describe('403', () => {
  it.each(TENANT_PATHS)('is the same for an unknown workspace and a foreign one: %s %s', async (method, path) => {
    const foreign = await call(method, `/w/bob${path}`, 'ada').set('x-request-id', 'same-request-id');
    const unknown = await call(method, `/w/nowhere${path}`, 'ada').set('x-request-id', 'same-request-id');
    expect([foreign.status, foreign.body.code]).toEqual([403, 'forbidden']);
    expect(unknown.body).toEqual(foreign.body);
  });

  it.each([
    ['get', '/api/v1/alerts', 'mia'],
    ['get', '/api/v1/members', 'adam'],
    ['get', '/api/v1/invitations', 'adam'],
    ['delete', '/api/v1/invitations/inv_1', 'adam'],
    ['patch', '/api/v1/workspace', 'adam'],
    ['post', '/api/v1/agents', 'adam'],
    ['patch', '/api/v1/agents/planner', 'adam'],
    ['get', '/api/v1/management/workspace-keys', 'adam'],
    ['patch', '/api/v1/management/workspace-keys/key_1', 'adam'],
    ['get', '/api/v1/workspaces/ws_acme/budgets/workspace', 'adam'],
    ['post', '/api/v1/budgets', 'adam'],
    ['patch', '/api/v1/budgets/bud_1', 'adam'],
    ['delete', '/api/v1/budgets/bud_1', 'mia'],
    ['put', '/api/v1/prices', 'adam'],
    ['post', '/api/v1/pauses', 'mia'],
    ['delete', '/api/v1/pauses/pau_1', 'mia'],
    ['post', '/api/v1/limits', 'adam'],
    ['get', '/api/v1/limits/leases', 'mia'],
    ['post', '/api/v1/limits/leases/lse_1:return', 'adam'],
    ['get', '/api/v1/limits/reservations', 'mia'],
    ['post', '/api/v1/raises', 'fin'],
    ['put', '/api/v1/prices', 'fin'],
    ['post', '/api/v1/limits/reservations/rsv_1:release', 'adam'],
  ] as [Method, string, string][])(
    'with a role that is too low, before the body is looked at: %s %s as %s',
    async (method, path, who) => {
      const answer = await call(method, `/w/acme${path}`, who).type('text/plain').send('x');
      expect([answer.status, answer.body.code]).toEqual([403, 'forbidden']);
    },
  );

  it('for a member of no workspace at all', async () => {
    expect((await call('get', '/api/v1/dashboard/spend', 'new')).status).toBe(403);
  });

  it.each([
    '/w//api/v1/dashboard/spend',
    '/w/%zz/api/v1/dashboard/spend',
    '/w/%61cme/api/v1/dashboard/spend',
    '/w/ACME/api/v1/dashboard/spend',
  ])('for a slug that only looks like one: %s', async (path) => {
    expect((await call('get', path, 'ada')).status).toBe(403);
  });
});

describe('the workspace of a request', () => {
  const tenantOf = async (path: string, as: string, header?: string): Promise<unknown> => {
    const http = call('get', path, as);
    const answer = await (header === undefined ? http : http.set('x-workspace', header));
    return answer.status === 200 ? (answer.body as Seen).caller?.tenantId : answer.body.code;
  };
  const path = '/api/v1/dashboard/spend';

  it('is named by the path prefix first, then by X-Workspace, then is the only one', async () => {
    expect(await tenantOf(`/w/bob${path}`, 'bob', 'acme')).toBe('ws_bob');
    expect(await tenantOf(path, 'bob', 'acme')).toBe('ws_acme');
    expect(await tenantOf(path, 'ada')).toBe('ws_acme');
  });

  it('must be named by a caller with several', async () => {
    expect(await tenantOf(path, 'bob')).toBe('workspace_required');
    expect(await tenantOf(path, 'ada', '')).toBe('forbidden');
  });

  it('is the one of a budgets path, which must agree with the slug', async () => {
    const budgets = (id: string) => `/api/v1/workspaces/${id}/budgets/workspace`;
    const answer = async (url: string, as: string) => (await call('get', url, as)).body;
    const code = async (url: string, as: string) => (await answer(url, as)).code;
    for (const url of [budgets('ws_bob'), `/w/bob${budgets('ws_bob')}`]) {
      expect(await answer(url, 'bob')).toMatchObject({ service: 'budgets', caller: { tenantId: 'ws_bob' } });
    }
    expect(await code(`/w/acme${budgets('ws_bob')}`, 'bob')).toBe('forbidden');
    expect(await code(`/w/bob${budgets('ws_acme')}`, 'bob')).toBe('forbidden');
    expect(await code(budgets('ws_else'), 'bob')).toBe('forbidden');
    expect(await code(budgets('ws%5Fbob'), 'bob')).toBe('forbidden');
  });
});

describe('the areas', () => {
  it.each([
    ['get', '/api/v1/dashboard/spend?range=1m', 'mia', 'dashboard', 'member'],
    ['get', '/api/v1/audit', 'fin', 'audit', 'finance'],
    ['post', '/api/v1/dashboard/budget-preview', 'fin', 'dashboard', 'finance'],
    ['delete', '/api/v1/members/me', 'fin', 'identity', 'finance'],
    ['get', '/api/v1/agents', 'mia', 'identity', 'member'],
    ['get', '/api/v1/agents/planner', 'mia', 'identity', 'member'],
    ['post', '/api/v1/agents', 'ada', 'identity', 'owner'],
    ['patch', '/api/v1/agents/planner', 'ada', 'identity', 'owner'],
    ['get', '/api/v1/members/user_1', 'ada', 'identity', 'owner'],
    ['patch', '/api/v1/workspace', 'ada', 'identity', 'owner'],
    ['get', '/api/v1/management/workspace-keys', 'ada', 'keys', 'owner'],
    ['get', '/api/v1/intake-reports', 'mia', 'keys', 'member'],
    ['patch', '/api/v1/management/workspace-keys/key_1', 'ada', 'keys', 'owner'],
    ['post', '/api/v1/management/workspace-keys/key_1:revoke', 'ada', 'keys', 'owner'],
    ['get', '/api/v1/budgets?origin=none', 'mia', 'budgets', 'member'],
    ['get', '/api/v1/budgets/bud_agent.a:b', 'mia', 'budgets', 'member'],
    ['post', '/api/v1/budgets', 'ada', 'budgets', 'owner'],
    ['patch', '/api/v1/budgets/bud_workspace', 'ada', 'budgets', 'owner'],
    ['delete', '/api/v1/budgets/bud_plan.pro', 'ada', 'budgets', 'owner'],
    ['get', '/api/v1/prices?source=table', 'mia', 'budgets', 'member'],
    ['put', '/api/v1/prices', 'ada', 'budgets', 'owner'],
    ['get', '/api/v1/pauses', 'mia', 'budgets', 'member'],
    ['post', '/api/v1/pauses', 'adam', 'budgets', 'admin'],
    ['delete', '/api/v1/pauses/pau_1', 'ada', 'budgets', 'owner'],
    ['post', '/api/v1/raises', 'mia', 'budgets', 'member'],
    ['post', '/api/v1/raises/rai_1:approve', 'ada', 'budgets', 'owner'],
    ['get', '/api/v1/limits?agent_id=a', 'mia', 'enforcer', 'member'],
    ['get', '/api/v1/limits/leases?state=open', 'adam', 'enforcer', 'admin'],
    ['post', '/api/v1/limits/leases/lse_1:return', 'ada', 'enforcer', 'owner'],
    ['get', '/api/v1/limits/reservations?state=held', 'adam', 'enforcer', 'admin'],
    ['post', '/api/v1/limits/reservations/rsv_1:release', 'ada', 'enforcer', 'owner'],
  ] as [Method, string, string, string, string][])(
    '%s %s as %s goes to %s with the role %s',
    async (method, path, as, service, role) => {
      const answer = await call(method, `/w/acme${path}`, as);
      expect(answer.status).toBe(200);
      expect(answer.body).toMatchObject({
        service,
        method: method.toUpperCase(),
        url: path,
        caller: { userId: `user_${as}`, tenantId: 'ws_acme', role },
      });
    },
  );

  it.each([
    ['get', '/api/v1/auth/me'],
    ['post', '/api/v1/auth/logout'],
    ['get', '/api/v1/workspaces'],
    ['post', '/api/v1/workspaces'],
  ] as [Method, string][])('%s %s is for anyone with a session, in no workspace', async (method, path) => {
    const answer = await call(method, path, 'new');
    expect(answer.body).toMatchObject({
      service: 'identity',
      caller: { userId: 'user_new', tenantId: null, role: null },
    });
  });

  it.each(['login', 'reset', 'forgot', 'device', 'device/token'])('%s is for everyone', async (what) => {
    const answer = await call('post', `/api/v1/auth/${what}`).send({ email: 'a' });
    expect(answer.body).toMatchObject({ service: 'identity', caller: null, body: '{"email":"a"}' });
  });

  it.each([
    ['get', '/api/v1/invitations/tk_invite_x'],
    ['post', '/api/v1/invitations/tk_invite_x:accept'],
  ] as [Method, string][])('%s %s is for everyone, with or without a session', async (method, path) => {
    const whose = async (as?: string) => ((await call(method, path, as)).body as Seen).caller?.userId ?? null;
    expect([await whose(), await whose('nobody'), await whose('new')]).toEqual([null, null, 'user_new']);
  });

  it('a mail program that stops alerts for its reader needs no session, and sends a form (RFC 8058)', async () => {
    const stop = call('post', '/api/v1/alert-mails/tk_mailstop_x:stop', 'ada').type('form');
    const answer = await stop.send('List-Unsubscribe=One-Click');
    expect(answer.body).toMatchObject({ service: 'notifier', caller: null, body: 'List-Unsubscribe=One-Click' });
    const elsewhere = call('post', '/api/v1/alerts/channels', 'ada').type('form');
    expect((await elsewhere.send('name=x')).status).toBe(415);
  });

  it('leaving a workspace is for each of its members', async () => {
    const answer = await call('delete', '/w/acme/api/v1/members/me', 'mia');
    expect(answer.body).toMatchObject({ caller: { userId: 'user_mia', tenantId: 'ws_acme', role: 'member' } });
  });

  it.each([
    ['/api/v1/events', 'ingest'],
    ['/api/v1/leases', 'enforcer'],
    ['/api/v1/leases/lse_1:settle', 'enforcer'],
    ['/api/v1/reservations', 'enforcer'],
    ['/api/v1/reservations/rsv_1:settle', 'enforcer'],
    ['/api/v1/raise-requests', 'enforcer'],
    ['/v1/traces', 'ingest'],
    ['/api/public/otel/v1/traces', 'ingest'],
  ])('%s is for keys, which %s judges: no session is asked for', async (path, service) => {
    const questions = stack.identity.questions;
    const answer = await call('post', path)
      .set('authorization', 'Bearer ws_live_a.b')
      .type('application/cloudevents+json')
      .send('{}');
    expect(answer.body).toMatchObject({ service, caller: null, headers: { authorization: 'Bearer ws_live_a.b' } });
    expect(stack.identity.questions).toBe(questions);
  });

  it.each([
    '/api/v1',
    '/api/v1/',
    '/api/v1/nothing',
    '/api/v1/dashboards',
    '/api/v2/dashboard/spend',
    '/API/v1/dashboard/spend',
    '/api/v1/%64ashboard/spend',
    '/w/acme/api',
    '/w/acme/API/v1/dashboard/spend',
    '/w/acme/api/v1/auth/me',
    '/w/acme/api/v1/workspaces',
    '/w/acme/api/v1/events',
    '/w/acme/api/v1/reservations',
    '/w/acme/v1/traces',
    '/V1/traces',
    '/docs/nothing',
    '//api/v1/dashboard/spend',
  ])('%s is an unknown path: 404, with a session or without', async (path) => {
    for (const answer of [await call('get', path), await call('get', path, 'ada')]) {
      expect([answer.status, answer.body.code]).toEqual([404, 'not_found']);
    }
  });
});

describe('a workspace key', () => {
  const KEY = 'Bearer ws_live_0123456789abcdef.0123456789';
  const HINT =
    'Workspace keys work at /api/v1/events, /v1, /api/v1/otlp, /api/public/otel, /api/v1/intake, ' +
    '/api/v1/reservations, /api/v1/raise-requests, /api/v1/adapters/authz, /api/v1/adapters/litellm, /api/v1/adapters/portkey, ' +
    'and /api/v1/leases; sessions work at the paths below /w/{slug}.';
  const asked = async (path: string) => {
    const { status, body } = await call('post', path).set('authorization', KEY).set('x-request-id', 'same-request-id');
    return { status, body };
  };

  it.each(['/api/v1/events', '/api/v1/reservations', '/api/v1/leases/lse_1:settle', '/v1/traces'])(
    'is pointed to its paths where it names a workspace, whether there is one or not: %s',
    async (path) => {
      const known = await asked(`/w/acme${path}`);
      expect(known).toMatchObject({ status: 404, body: { code: 'not_found', error: expect.stringContaining(HINT) } });
      expect(await asked(`/w/nowhere${path}`)).toEqual(known);
    },
  );

  it('is pointed to its paths where a session is needed, whether there is the workspace or not', async () => {
    const known = await asked('/w/acme/api/v1/agents');
    expect(known).toMatchObject({
      status: 401,
      body: { code: 'unauthenticated', error: expect.stringContaining(HINT) },
    });
    expect(await asked('/w/nowhere/api/v1/agents')).toEqual(known);
  });
});

describe('execute', () => {
  it.each(['/api/v1/execute', '/api/v1/execute/', '/api/v1/execute?x=1', '/w/acme/api/v1/execute'])(
    'POST %s is 410 with exactly an error, with or without a session',
    async (path) => {
      for (const answer of [await call('post', path), await call('post', path, 'ada').send({ a: 1 })]) {
        expect(answer.status).toBe(410);
        expect(answer.body).toEqual({ error: expect.stringContaining('disabled') });
        expect(answer.headers['x-request-id']).toBeDefined();
      }
    },
  );

  it('is nothing but this path', async () => {
    for (const path of ['/api/v1/execute//', '/api/v1/execute/x', '/api/v1/executed', '/api/v1/execute%2F']) {
      expect((await call('post', path)).status).toBe(404);
    }
  });

  it.each(['/api/v1/execute', '/api/v1/execute/'])('other methods of %s are 405', async (path) => {
    const answer = await call('get', path);
    expect([answer.status, answer.headers['allow'], answer.body.code]).toEqual([405, 'POST', 'method_not_allowed']);
    expect(answer.body.error).toBe('This path accepts POST.');
  });
});
