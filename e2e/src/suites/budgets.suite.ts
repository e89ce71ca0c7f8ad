import { beforeAll, describe, expect, it } from '@jest/globals';
import { eventually } from '@tollkeeper/testing';
import { type ApiClient, type ApiRequest, anonymous, logIn } from '../api.client.ts';
import { spendSettled } from '../events.ts';
import type { TargetOf } from '../target.ts';
import { type TestWorkspace, newMember, newWorkspace, postEvents } from '../workspace.ts';

export function describeBudgets(target: TargetOf): void {
  describe('budgets', () => {
    let owner: ApiClient;
    let admin: ApiClient;
    let workspace: TestWorkspace;
    let foreign: TestWorkspace;
    const path = (below: string) => workspace.path(`/workspaces/${workspace.id}/budgets${below}`);
    const set = (below: string, micros: unknown) =>
      owner.call({ method: 'PUT', path: path(below), body: { daily_budget_usd_micros: micros } });

    beforeAll(async () => {
      owner = await logIn(target(), target().owner);
      workspace = await newWorkspace(owner);
      foreign = await newWorkspace(owner);
      admin = await newMember(target(), owner, workspace, 'admin');
      const settled = spendSettled({ agentId: 'agent-a', amountMicros: 2_500 });
      expect((await postEvents(target(), workspace.apiKey, settled)).status).toBe(202);
      await eventually(async () => {
        const { items } = await owner.expect<{ items: unknown[] }>({ path: path('/agents') });
        expect(items).toHaveLength(1);
      });
    });

    it('of the workspace are set, read and unset, with the slug and without', async () => {
      expect((await set('/workspace', 10_000)).body).toEqual({
        tenant_id: workspace.id,
        daily_budget_usd_micros: 10_000,
      });
      const without = `/api/v1/workspaces/${workspace.id}/budgets/workspace`;
      expect(await owner.expect({ path: without })).toMatchObject({ daily_budget_usd_micros: 10_000 });
      expect((await set('/workspace', null)).body).toMatchObject({ daily_budget_usd_micros: null });
      expect(await owner.expect({ path: path('/workspace') })).toMatchObject({ daily_budget_usd_micros: null });
    });

    it('show in the dashboard as a share of the days that the window touches', async () => {
      await set('/workspace', 10_000);
      await eventually(async () => {
        const spend = await owner.expect({ path: workspace.path('/dashboard/spend?range=today') });
        expect(spend).toMatchObject({ metrics: { total_micros: 2_500, budget_used_pct: 25 } });
      });
    });

    it('of agents are set for agents of the workspace, and 404 for any other', async () => {
      expect((await set('/agents/agent-a', 7)).body).toEqual({ agent_id: 'agent-a', daily_budget_usd_micros: 7 });
      expect(await owner.expect({ path: path('/agents') })).toMatchObject({
        items: [{ agent_id: 'agent-a', display_name: 'agent-a', daily_budget_usd_micros: 7 }],
      });
      expect(await set('/agents/agent-z', 7)).toMatchObject({ status: 404, body: { code: 'not_found' } });
    });

    it('of plans are made once, changed in part and deleted', async () => {
      const body = { plan_key: 'pro', display_name: 'Pro', daily_budget_usd_micros: 5 };
      const create: ApiRequest = { method: 'POST', path: path('/plans'), body };
      const plan = await owner.expect<{ id: string }>({ ...create, status: 201 });
      expect(plan).toMatchObject({ ...body, tenant_id: workspace.id, description: '', is_active: true });
      expect((await owner.call(create)).status).toBe(409);

      const change = { method: 'PUT', path: path('/plans/pro'), body: { is_active: false } };
      expect(await owner.expect(change)).toMatchObject({ ...body, id: plan.id, is_active: false });
      expect(await owner.expect({ path: path('/plans') })).toMatchObject({ items: [{ id: plan.id }] });
      const remove = { method: 'DELETE', path: path('/plans/pro') };
      expect((await owner.call(remove)).status).toBe(204);
      expect((await owner.call(remove)).status).toBe(404);
      expect((await owner.call(change)).status).toBe(404);
    });

    it.each([-1, 0.5, '5', 2 ** 53, { $gt: 0 }, [1], undefined])('refuse a budget of %j', async (micros) => {
      for (const below of ['/workspace', '/agents/agent-a']) {
        expect(await set(below, micros)).toMatchObject({ status: 400, body: { code: 'invalid_request' } });
      }
    });

    it.each(['Pro', '-pro', 'a b', '', { $ne: '' }, 'x'.repeat(65)])('refuse the plan key %j', async (plan_key) => {
      const body = { plan_key, display_name: 'Pro', daily_budget_usd_micros: 5 };
      expect((await owner.call({ method: 'POST', path: path('/plans'), body })).status).toBe(400);
    });

    it.each(['%00', '%zz', '%2e%2e%2f', '$where', 'a'.repeat(200)])('refuse %s in their paths', async (rubbish) => {
      for (const below of [`/agents/${rubbish}`, `/plans/${rubbish}`]) {
        const { status } = await set(below, 5);
        expect(status).toBeGreaterThanOrEqual(400);
        expect(status).toBeLessThan(500);
      }
    });

    it('are for sessions of owners only, and for the workspace that the path and the slug agree on', async () => {
      for (const below of ['/workspace', '/agents', '/plans']) {
        expect((await anonymous(target()).call({ path: path(below) })).status).toBe(401);
        const headers = { authorization: `Bearer ${workspace.apiKey}` };
        expect((await anonymous(target()).call({ path: path(below), headers })).status).toBe(401);
        const mixed = foreign.path(`/workspaces/${workspace.id}/budgets${below}`);
        expect((await owner.call({ path: mixed })).status).toBe(403);
        for (const id of ['ws_unknown', foreign.id]) {
          const elsewhere = `/api/v1/workspaces/${id}/budgets${below}`;
          expect((await admin.call({ path: elsewhere })).status).toBe(403);
        }
        expect((await admin.call({ path: path(below) })).status).toBe(403);
      }
    });
  });
}
