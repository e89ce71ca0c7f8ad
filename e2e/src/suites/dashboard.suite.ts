import { beforeAll, describe, expect, it } from '@jest/globals';
import { eventually } from '@tollkeeper/testing';
import { type ApiClient, logIn } from '../api.client.ts';
import { budgetBlocked, guardBlocked, spendSettled } from '../events.ts';
import type { TargetOf } from '../target.ts';
import { type TestWorkspace, newWorkspace, postEvents } from '../workspace.ts';

const HOUR_MS = 3_600_000;

export function describeDashboard(target: TargetOf): void {
  describe('the dashboard, after events were posted', () => {
    let owner: ApiClient;
    let workspace: TestWorkspace;
    const now = Date.now();
    const at = (agoMs: number) => new Date(now - agoMs).toISOString();
    const settlements = [
      spendSettled({ agentId: 'agent-a', runId: 'run-1', amountMicros: 1_000, time: at(3_000) }),
      spendSettled({ agentId: 'agent-a', runId: 'run-1', amountMicros: 500, time: at(2_000) }),
      spendSettled({ agentId: 'agent-b', runId: 'run-2', amountMicros: 2_500, time: at(1_000) }),
    ];
    const old = spendSettled({ agentId: 'agent-b', runId: 'run-0', amountMicros: 7, time: at(30 * 24 * HOUR_MS) });
    const blockedBudget = budgetBlocked('run-3');
    const blockedGuard = guardBlocked('run-1', 'agent-b');
    const read = <T>(path: string, query = 'range=1m') =>
      owner.expect<T>({ path: `${workspace.path(`/dashboard${path}`)}${path.includes('?') ? '&' : '?'}${query}` });

    beforeAll(async () => {
      owner = await logIn(target(), target().owner);
      workspace = await newWorkspace(owner);
      const { apiKey } = workspace;
      const batch = await postEvents(target(), apiKey, [...settlements, old, blockedGuard]);
      expect(batch).toMatchObject({ status: 202, body: { accepted: 5 } });
      expect((await postEvents(target(), apiKey, blockedBudget)).status).toBe(202);
      // Repeated events are not counted again.
      expect((await postEvents(target(), apiKey, settlements)).status).toBe(202);
      await eventually(async () => {
        const overview = await read<{ spend: unknown; blocked: unknown }>('/overview', 'range=3m');
        expect(overview).toMatchObject({ spend: { unique_settlements: 4 }, blocked: { budget: 1, guard: 1 } });
      });
    });

    it('/spend has the sum, the number, the average and the tokens', async () => {
      expect(await read('/spend')).toMatchObject({
        window: { kind: '1m', timezone: 'UTC' },
        metrics: {
          total_micros: 4_007,
          unique_settlements: 4,
          avg_micros_per_settlement: 1_001.75,
          budget_used_pct: 0,
          input_tokens: 400,
          output_tokens: 40,
        },
      });
      expect(await read('/spend', 'range=5min')).toMatchObject({ metrics: { total_micros: 4_000 } });
    });

    it('/export is the spend of /spend as a file, for each grouping and format', async () => {
      const exported = async (query: string) => {
        const path = workspace.path(`/dashboard/export?range=1m&${query}`);
        const { status, text, headers } = await owner.call({ path });
        expect(status).toBe(200);
        expect(headers['content-disposition']).toMatch(/^attachment; filename="tollkeeper-[\d-]+-to-[\d-]+\./);
        return text.trimEnd();
      };
      const sumOf = async (query: string) =>
        (await exported(`${query}&format=ndjson`))
          .split('\n')
          .map((line) => JSON.parse(line) as { total_micros?: number; amount_micros?: number })
          .reduce((sum, { total_micros, amount_micros = 0 }) => sum + (total_micros ?? amount_micros), 0);
      for (const by of ['agent', 'model', 'plan', 'call'])
        expect([by, await sumOf(`group_by=${by}`)]).toEqual([by, 4_007]);
      expect((await exported('group_by=call')).split('\r\n')).toHaveLength(5);
      const [head = '', ...charges] = (await exported('format=focus')).split('\r\n');
      const [billed, agent] = ['BilledCost', 'x_AgentId'].map((name) => head.split(',').indexOf(name));
      const costs = charges.map((charge) => charge.split(',')).map((row) => `${row[agent!]} ${row[billed!]}`);
      // The two calls of agent-a are one charge, unless the hour changed between them.
      expect(costs).toContain('agent-b 0.000007');
    });

    it('/overview counts agents and runs, and compares with the span before', async () => {
      expect(await read('/overview', 'range=15min')).toMatchObject({
        spend: { total_micros: 4_000, unique_settlements: 3 },
        blocked: { budget: 1, guard: 1 },
        budget: { daily_budget_usd_micros: null },
        active_agents: 2,
        runs: 3,
        previous: { total_micros: 0, budget: 0, guard: 0 },
      });
    });

    it.each(['range=5min', 'range=1m', 'range=3m', 'range=today&timezone=Asia/Kathmandu'])(
      '/spend/series adds up to /spend: %s',
      async (query) => {
        type Series = { points: { total_micros: number; unique_settlements: number; input_tokens: number }[] };
        const { points } = await read<Series>('/spend/series', query);
        const spend = await read<{ metrics: Record<string, number> }>('/spend', query);
        const sum = (of: keyof Series['points'][number]) => points.reduce((total, point) => total + point[of], 0);
        expect(sum('total_micros')).toBe(spend.metrics['total_micros']);
        expect(sum('unique_settlements')).toBe(spend.metrics['unique_settlements']);
        expect(sum('input_tokens')).toBe(spend.metrics['input_tokens']);
        expect(points.length).toBeGreaterThan(0);
        expect(points.length).toBeLessThanOrEqual(120);
      },
    );

    it.each([
      ['agent', 'agent-b', 2_507],
      ['model', 'test-model', 4_007],
      ['plan', null, 4_007],
    ])('/spend/breakdown by %s adds up to /spend/series', async (by, key, total_micros) => {
      type Breakdown = { groups: unknown[]; points: { micros: number[] }[] };
      const { groups, points } = await read<Breakdown>(`/spend/breakdown?by=${by}&limit=1`);
      const series = await read<{ points: { total_micros: number }[] }>('/spend/series');
      const sums = points.map(({ micros }) => micros.reduce((sum, value) => sum + value, 0));
      expect(sums).toEqual(series.points.map((point) => point.total_micros));
      expect(groups).toMatchObject([{ key, total_micros }]);
    });

    it('/top-agents ranks by spend, with shares', async () => {
      expect(await read('/top-agents', 'range=15min&limit=5')).toMatchObject({
        items: [
          { agent_id: 'agent-b', total_micros: 2_500, unique_settlements: 1, share_pct: 62.5, guard_blocked: 1 },
          { agent_id: 'agent-a', total_micros: 1_500, unique_settlements: 2, share_pct: 37.5, budget_blocked: 1 },
        ],
      });
    });

    it('/top-agents/details shows one agent with its models and newest settlements', async () => {
      const details = await read<{ recent: { settlement_id: string }[] }>('/top-agents/details?agent_id=agent-a');
      expect(details).toMatchObject({
        agent: { agent_id: 'agent-a' },
        metrics: { total_micros: 1_500 },
        models: [
          {
            model: 'test-model',
            total_micros: 1_500,
            unique_settlements: 2,
            input_tokens: 200,
            output_tokens: 20,
          },
        ],
      });
      const newestFirst = [settlements[1], settlements[0]].map((event) => event?.data['settlement_id']);
      expect(details.recent.map(({ settlement_id }) => settlement_id)).toEqual(newestFirst);
    });

    it.each([
      ['/budget-blocked', blockedBudget],
      ['/guard-blocked', blockedGuard],
    ])('%s says what was blocked and why, and its details show it by event and by run', async (path, event) => {
      const { agent_id, run_id, ...why } = event.data;
      const item = { event_id: event.id, agent_id, run_id, occurred_at: event.time, ...why };
      expect(await read(path)).toMatchObject({ total: 1, items: [item], next_cursor: null });
      expect(await read(`${path}/details?event_id=${event.id}`)).toMatchObject({ event: item });
      const byRun = await read<{ events: unknown[] }>(`${path}/details?run_id=${String(run_id)}`);
      expect(byRun).toMatchObject({ run_id, events: expect.arrayContaining([expect.objectContaining(item)]) });
    });

    it('shows nothing of it to another workspace', async () => {
      const other = await newWorkspace(owner);
      expect(await owner.expect({ path: other.path('/dashboard/spend?range=3m') })).toMatchObject({
        metrics: { total_micros: 0, unique_settlements: 0 },
      });
      const details = other.path(`/dashboard/budget-blocked/details?event_id=${blockedBudget.id}`);
      expect((await owner.call({ path: details })).status).toBe(404);
    });

    it('names the workspace by prefix, by header, or not at all when the caller has several', async () => {
      const spend = '/api/v1/dashboard/spend?range=1m';
      const byHeader = await owner.expect({ path: spend, headers: { 'x-workspace': workspace.slug } });
      expect(byHeader).toMatchObject({ metrics: { total_micros: 4_007 } });
      expect(await owner.call({ path: spend })).toMatchObject({ status: 400, body: { code: 'workspace_required' } });
    });

    it('takes an unknown range for the current month', async () => {
      expect(await read('/spend', 'range=fortnight')).toMatchObject({ window: { kind: 'current_month' } });
    });

    it('registers the agents that events name', async () => {
      const path = workspace.path('/agents');
      await eventually(async () => {
        const { items } = await owner.expect<{ items: { agent_id: string }[] }>({ path });
        expect(items.map(({ agent_id }) => agent_id)).toEqual(['agent-a', 'agent-b']);
      });
    });
  });
}
