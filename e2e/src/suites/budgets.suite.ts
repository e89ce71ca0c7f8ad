import { beforeAll, describe, expect, it } from '@jest/globals';
import { eventually } from '@tollkeeper/testing';
import { type ApiClient, anonymous, logIn, openApiOf } from '../api.client.ts';
import { spendSettled } from '../events.ts';
import type { TargetOf } from '../target.ts';
import { type TestWorkspace, newMember, newWorkspace, postEvents } from '../workspace.ts';

const PLAN = {
  plan_key: 'research_tier',
  display_name: 'Research',
  description: 'Interactive work of the research team',
  daily_budget_usd_micros: 5_000_000,
};

/** Every call for budgets, well formed. */
const CALLS: [method: string, below: string, body: unknown][] = [
  ['GET', '/workspace', undefined],
  ['PUT', '/workspace', { daily_budget_usd_micros: 1 }],
  ['GET', '/agents', undefined],
  ['PUT', '/agents/agent-a', { daily_budget_usd_micros: 1 }],
  ['GET', '/plans', undefined],
  ['POST', '/plans', PLAN],
  ['PUT', '/plans/research_tier', { is_active: false }],
  ['DELETE', '/plans/research_tier', undefined],
  ['GET', '/history', undefined],
];

interface Metrics {
  total_micros: number;
  budget_used_pct: number;
}

export function describeBudgets(target: TargetOf): void {
  describe('budgets', () => {
    let owner: ApiClient;
    let workspace: TestWorkspace;
    let foreign: TestWorkspace;
    const budgetsOf = ({ id }: TestWorkspace, below: string) => `/api/v1/workspaces/${id}/budgets${below}`;
    const call = (method: string, below: string, body?: unknown) =>
      owner.call({ method, path: budgetsOf(workspace, below), body });
    const setDaily = (below: string, micros: unknown) => call('PUT', below, { daily_budget_usd_micros: micros });

    beforeAll(async () => {
      owner = await logIn(target(), target().owner);
      workspace = await newWorkspace(owner);
      foreign = await newWorkspace(owner);
      const events = [
        spendSettled({ agentId: 'agent-a', amountMicros: 300 }),
        spendSettled({ agentId: 'agent-b', amountMicros: 200 }),
      ];
      expect((await postEvents(target(), workspace.apiKey, events)).status).toBe(202);
    });

    it('of the workspace show as a share that is used, from when they are set until they are unset', async () => {
      const overview = async () => {
        const path = workspace.path('/dashboard/overview?range=1m');
        return owner.expect<{ spend: Metrics; budget: Record<string, number>; budgets: object[] | null }>({ path });
      };
      expect(await setDaily('/workspace', null)).toMatchObject({
        status: 200,
        body: { tenant_id: workspace.id, daily_budget_usd_micros: null },
      });
      await eventually(async () => {
        expect((await overview()).spend).toMatchObject({ total_micros: 500, budget_used_pct: 0 });
      });

      for (const daily of [10, 20]) {
        expect((await setDaily('/workspace', daily)).body).toMatchObject({ daily_budget_usd_micros: daily });
        await eventually(async () => {
          const { spend, budget, budgets } = await overview();
          expect(budgets).toMatchObject([{ budget_id: 'bud_workspace', limit_micros: daily }]);
          const allowed = budget['window_budget_usd_micros'] ?? 0;
          expect(budget['daily_budget_usd_micros']).toBe(daily);
          expect([29, 30, 31, 32]).toContain(allowed / daily);
          expect(spend.budget_used_pct).toBeCloseTo((500 / allowed) * 100, 2);
        });
      }

      await setDaily('/workspace', null);
      await eventually(async () => expect((await overview()).spend.budget_used_pct).toBe(0));
      expect(await overview()).not.toHaveProperty('budget_stale');
    });

    it('of agents are listed for every agent, and 404 for one that the workspace does not have', async () => {
      const list = async () => (await call('GET', '/agents')).body;
      await eventually(async () => {
        const unset = { daily_budget_usd_micros: null, updated_at: null };
        expect(await list()).toEqual({
          items: ['agent-a', 'agent-b'].map((id) => ({ agent_id: id, display_name: id, ...unset })),
        });
      });

      expect(await setDaily('/agents/agent-a', 1000)).toMatchObject({
        status: 200,
        body: { agent_id: 'agent-a', daily_budget_usd_micros: 1000 },
      });
      expect(await list()).toMatchObject({
        items: [{ daily_budget_usd_micros: 1000, updated_at: expect.any(String) }, { daily_budget_usd_micros: null }],
      });
      const details = workspace.path('/dashboard/top-agents/details?agent_id=agent-a');
      await eventually(async () => {
        expect(await owner.expect({ path: details })).toMatchObject({ budget: { daily_budget_usd_micros: 1000 } });
      });

      expect(await setDaily('/agents/nobody', 1000)).toMatchObject({ status: 404, body: { code: 'not_found' } });
      const elsewhere = { path: budgetsOf(foreign, '/agents/agent-a'), body: { daily_budget_usd_micros: 1 } };
      expect((await owner.call({ method: 'PUT', ...elsewhere })).status).toBe(404);
    });

    it('of plans are made once, changed in part, turned off and deleted', async () => {
      const created = await call('POST', '/plans', PLAN);
      expect(created).toMatchObject({ status: 201, body: { ...PLAN, tenant_id: workspace.id, is_active: true } });
      expect(await call('POST', '/plans', PLAN)).toMatchObject({ status: 409, body: { code: 'conflict' } });

      const changes = { is_active: false, daily_budget_usd_micros: 0 };
      const changed = await call('PUT', '/plans/research_tier', changes);
      expect(changed).toMatchObject({ status: 200, body: { ...PLAN, ...changes } });
      expect((await call('GET', '/plans')).body).toEqual({ items: [changed.body] });
      const elsewhere = { method: 'DELETE', path: budgetsOf(foreign, '/plans/research_tier') };
      expect((await owner.call(elsewhere)).status).toBe(404);

      expect(await call('DELETE', '/plans/research_tier')).toMatchObject({ status: 204, text: '' });
      expect((await call('DELETE', '/plans/research_tier')).status).toBe(404);
      expect((await call('PUT', '/plans/research_tier', {})).status).toBe(404);
      expect((await call('GET', '/plans')).body).toEqual({ items: [] });
    });

    it.each([-1, 0.5, '5', 2 ** 53, { $gt: 0 }, [1], undefined])('are 400 for a budget of %j', async (micros) => {
      const details = [{ path: 'daily_budget_usd_micros', message: expect.any(String) }];
      for (const below of ['/workspace', '/agents/agent-a']) {
        expect(await setDaily(below, micros)).toMatchObject({
          status: 400,
          body: { code: 'invalid_request', details },
        });
      }
      expect((await call('POST', '/plans', { ...PLAN, daily_budget_usd_micros: micros })).status).toBe(400);
    });

    it.each(['Pro', '-pro', 'a b', '', { $ne: '' }, 'x'.repeat(65)])('are 400 for the plan key %j', async (key) => {
      const details = [{ path: 'plan_key', message: expect.any(String) }];
      const answer = await call('POST', '/plans', { ...PLAN, plan_key: key });
      expect(answer).toMatchObject({ status: 400, body: { code: 'invalid_request', details } });
    });

    it.each([
      ['POST', '/plans', { ...PLAN, is_active: false }, 'is_active'],
      ['PUT', '/plans/research_tier', { plan_key: 'other' }, 'plan_key'],
    ])('are 400 for a field that is not theirs to set: %s %s %j', async (method, below, body, path) => {
      expect(await call(method, below, body)).toMatchObject({ status: 400, body: { details: [{ path }] } });
    });

    it.each(['/workspace', '/agents', '/plans'])('are 405 for a method that there is none of: %s', async (below) => {
      expect((await call('PATCH', below, {})).status).toBe(405);
    });

    it('have a history, which says who changed them', async () => {
      const { user } = await owner.expect<{ user: { id: string } }>({ path: '/api/v1/auth/me' });
      await setDaily('/workspace', 41);
      await setDaily('/workspace', 42);
      await setDaily('/workspace', 42);
      const { body } = await call('GET', '/history?scope=workspace&limit=1');
      const amounts = { previous_daily_budget_usd_micros: 41, daily_budget_usd_micros: 42 };
      expect(body).toMatchObject({ items: [{ scope_id: workspace.id, ...amounts, changed_by: user.id }] });
    });

    describe('are for owners, and for the workspace that path and slug agree on', () => {
      let members: ApiClient[];

      beforeAll(async () => {
        members = [
          await newMember(target(), owner, workspace, 'member'),
          await newMember(target(), owner, workspace, 'admin'),
        ];
      });

      it.each(CALLS)('%s %s', async (method, below, body) => {
        const path = budgetsOf(workspace, below);
        for (const headers of [{}, { authorization: `Bearer ${workspace.apiKey}` }]) {
          expect((await anonymous(target()).call({ method, path, body, headers })).status).toBe(401);
        }
        for (const member of members) {
          // Their own workspace, where their role is too low, and one of which they are not a member.
          for (const tenant of [workspace, foreign]) {
            const answer = await member.call({ method, path: budgetsOf(tenant, below), body });
            expect(answer).toMatchObject({ status: 403, body: { code: 'forbidden' } });
          }
        }
        const mixed = await owner.call({ method, path: foreign.path(path.replace('/api/v1', '')), body });
        expect(mixed).toMatchObject({ status: 403, body: { code: 'forbidden' } });
        const none = await owner.call({ method, path: path.replace(workspace.id, 'ws_none'), body });
        expect(none).toMatchObject({ status: 403, body: { code: 'forbidden' } });
      });

      it('in the canonical form of the path as well', async () => {
        const path = workspace.path(`/workspaces/${workspace.id}/budgets/workspace`);
        expect(await owner.expect({ path })).toMatchObject({ tenant_id: workspace.id });
      });
    });

    it('are in the published document', async () => {
      const { paths } = await openApiOf(target());
      for (const below of ['/workspace', '/agents', '/agents/{agent_id}', '/plans', '/plans/{plan_key}', '/history']) {
        expect(paths).toHaveProperty([`/api/v1/workspaces/{tenant_id}/budgets${below}`]);
      }
    });
  });
}
