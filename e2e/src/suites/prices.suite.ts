import { beforeAll, describe, expect, it } from '@jest/globals';
import { eventually } from '@tollkeeper/testing';
import { type ApiClient, logIn } from '../api.client.ts';
import { reportCall } from '../reported.calls.ts';
import type { TargetOf } from '../target.ts';
import { newMember, newWorkspace, type TestWorkspace } from '../workspace.ts';

const HOUSE = { model: 'house-1', valid_from: '2026-01-01T00:00:00.000Z' };

interface Spend {
  metrics: { total_micros: number; unique_settlements: number };
  unpriced: { calls: number };
}

export function describePrices(target: TargetOf): void {
  describe('prices', () => {
    let owner: ApiClient;
    let workspace: TestWorkspace;
    const set = (body: object) => owner.expect({ method: 'PUT', path: workspace.path('/prices'), body });
    const report = (model: string, inputTokens: number) =>
      reportCall(target(), workspace.apiKey, { model, inputTokens });
    const spend = () => owner.expect<Spend>({ path: workspace.path('/dashboard/spend?range=1m') });

    beforeAll(async () => {
      owner = await logIn(target(), target().owner);
      workspace = await newWorkspace(owner);
    });

    it('that an owner sets count for the calls of a model, to the micro, before those of the release', async () => {
      await set({ ...HOUSE, input_micros_per_million: 2_500_000 });
      await set({ ...HOUSE, model: 'gpt-4o-mini', input_micros_per_million: 0, output_micros_per_million: 0 });
      await report('house-1', 1_000_003);
      await report('gpt-4o-mini', 5_000_000);
      await report('gpt-4o', 1_000_000);
      await eventually(async () =>
        expect(await spend()).toMatchObject({
          // 2.5000075 USD, rounded half up, nothing, and the price of gpt-4o in the release.
          metrics: { total_micros: 2_500_008 + 2_500_000, unique_settlements: 3 },
          unpriced: { calls: 0 },
        }),
      );
    });

    it('count within seconds for a model without any', async () => {
      const { metrics: before } = await spend();
      await report('house-2', 1_000_000);
      await eventually(async () => expect((await spend()).unpriced).toEqual({ calls: 1 }));
      await set({ ...HOUSE, model: 'House-2', output_micros_per_million: 1, input_micros_per_million: 7 });
      await eventually(async () => {
        await report('house-2', 1_000_000);
        expect((await spend()).metrics.total_micros).toBeGreaterThan(before.total_micros);
      });
    });

    it('are read by members, with those of the release, and are changed and audited by owners alone', async () => {
      const member = await newMember(target(), owner, workspace, 'member');
      const path = workspace.path('/prices');
      const own = await member.expect<{ items: { model: string }[] }>({ path });
      expect(own.items.map(({ model }) => model)).toEqual(['House-2', 'gpt-4o-mini', 'house-1']);
      const table = await member.expect<typeof own>({ path: `${path}?source=table&search=gpt-4o-mini&limit=100` });
      expect(table.items.map(({ model }) => model)).toContain('gpt-4o-mini');
      const body = { ...HOUSE, input_micros_per_million: 1 };
      expect((await member.call({ method: 'PUT', path, body })).status).toBe(403);
      await eventually(async () => {
        const audit = await owner.expect<{ items: unknown[] }>({ path: workspace.path('/audit?action=price.set') });
        expect(audit.items).toHaveLength(3);
      });
    });

    it('that are set later correct figures and the spend of running budgets, once calls are priced again', async () => {
      const other = await newWorkspace(owner);
      const at = { path: other.path(`/workspaces/${other.id}/budgets/workspace`) };
      await owner.expect({ ...at, method: 'PUT', body: { daily_budget_usd_micros: 100_000_000 } });
      await reportCall(target(), other.apiKey, { model: 'house-1', inputTokens: 2_000_000 });
      const total = async () =>
        (await owner.expect<Spend>({ path: other.path('/dashboard/spend?range=1m') })).metrics.total_micros;
      const limit = async () => {
        const { items } = await owner.expect<{ items: { spent_micros: number }[] }>({ path: other.path('/limits') });
        return items[0]!.spent_micros;
      };
      const span = { from: new Date(Date.now() - 3_600_000).toISOString(), to: new Date().toISOString() };
      for (const [micros, spent] of [
        [2_500_000, 5_000_000],
        [1_000_000, 2_000_000],
      ] as const) {
        const body = { ...HOUSE, input_micros_per_million: micros };
        await owner.expect({ method: 'PUT', path: other.path('/prices'), body });
        const path = other.path('/prices:reprice');
        const { id } = await owner.expect<{ id: string }>({ method: 'POST', path, body: span, status: 202 });
        await eventually(async () =>
          expect(await owner.expect({ path: `${path}/jobs/${id}` })).toMatchObject({ state: 'done', calls: 1 }),
        );
        expect(await total()).toBe(spent);
        await eventually(async () => expect(await limit()).toBe(spent));
      }
      const member = await newMember(target(), owner, other, 'member');
      expect((await member.call({ method: 'POST', path: other.path('/prices:reprice'), body: span })).status).toBe(403);
      await eventually(async () => {
        const path = other.path('/audit?action=repricing.create');
        expect((await owner.expect<{ items: unknown[] }>({ path })).items).toHaveLength(2);
      });
    });
  });
}
