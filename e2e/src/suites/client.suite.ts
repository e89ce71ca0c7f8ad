import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { beforeAll, describe, expect, it } from '@jest/globals';
import { createManagementApi, createTollkeeper, type ManagementApi, type TollkeeperOptions } from '@tollkeeper/client';
import { eventually } from '@tollkeeper/testing';
import { type ApiClient, logIn } from '../api.client.ts';
import type { TargetOf } from '../target.ts';
import { type TestWorkspace, newWorkspace } from '../workspace.ts';

const ROOT = join(import.meta.dirname, '../../..');
const EXAMPLE = join(ROOT, 'libs/client/examples/reserve.ts');
const DAILY_MICROS = 1_000;

/** A zone where it is about noon, so that no day ends during a test. */
function zoneAtNoon(): string {
  const ahead = 12 - new Date().getUTCHours();
  return `Etc/GMT${ahead < 0 ? '+' : '-'}${Math.abs(ahead)}`;
}

export function describeClient(target: TargetOf): void {
  describe('a gateway with the client', () => {
    let owner: ApiClient;
    let workspace: TestWorkspace;
    let api: ManagementApi;
    const call = { agentId: 'agent-a', runId: 'run-1' };
    const clientOf = (options: Partial<TollkeeperOptions> = {}) =>
      createTollkeeper({ url: target().baseUrl, key: workspace.apiKey, timeoutMs: 30_000, ...options });

    async function limit() {
      const { items } = await api.call('GET /api/v1/limits');
      expect(items).toHaveLength(1);
      return items[0];
    }

    beforeAll(async () => {
      owner = await logIn(target(), target().owner);
    });

    async function startWorkspace() {
      workspace = await newWorkspace(owner, zoneAtNoon());
      const session = owner.cookie?.replace('gw_session=', '') ?? '';
      api = createManagementApi({ url: target().baseUrl, workspace: workspace.slug, session });
      await api.call('PUT /api/v1/workspaces/{tenant_id}/budgets/workspace', {
        path: { tenant_id: workspace.id },
        body: { daily_budget_usd_micros: DAILY_MICROS },
      });
    }

    it('is held to the budget, and what it settles and reports is what limits and dashboard say', async () => {
      await startWorkspace();
      const client = clientOf();

      // 600 of 1,000 are reserved, so 600 more are denied, but 400 are not.
      const first = await client.reserve({ ...call, amountMicros: 600, ttlSeconds: 3_600 });
      const second = await client.reserve({ ...call, amountMicros: 600 });
      const third = await client.reserve({ ...call, agentId: 'agent-b', amountMicros: 400 });
      if (!first.allowed || second.allowed || !third.allowed) throw new Error('decided otherwise');
      expect(first.limits).toMatchObject([{ scope: 'workspace', held_micros: 600, remaining_micros: 400 }]);
      expect(second.denial).toMatchObject({ scope: 'workspace', requested_micros: 600, held_micros: 600 });
      expect(await limit()).toMatchObject({ spent_micros: 0, held_micros: 1_000, open_reservations: 2 });

      expect(await third.extend(1_200)).toMatchObject({ state: 'held' });
      expect(await third.release()).toMatchObject({ state: 'released' });
      const cost = { amountMicros: 550, model: 'test-model', inputTokens: 7, outputTokens: 5 };
      expect(await first.settle(cost)).toMatchObject({ state: 'settled', settled_micros: 550 });
      // Repeated, as after a lost answer.
      expect(await first.settle(cost)).toMatchObject({ state: 'settled', settled_micros: 550 });

      await client.report({
        type: 'guard.blocked',
        data: { run_id: 'run-1', agent_id: 'agent-a', guard: 'g', reason: 'r' },
      });
      await client.close();

      await eventually(async () => {
        expect(await api.call('GET /api/v1/dashboard/overview', { query: { range: 'today' } })).toMatchObject({
          spend: { total_micros: 550, unique_settlements: 1, input_tokens: 7, output_tokens: 5 },
          blocked: { budget: 1, guard: 1 },
        });
      });
      expect(await limit()).toMatchObject({
        ...{ spent_micros: 550, held_micros: 0, remaining_micros: 450, released: 1 },
        overspend_micros: { above_hold: 0, late: 0, unreserved: 0 },
      });
    });

    it('spends the budget from leases and no more, with two gateways at once, and returns what it leased', async () => {
      await startWorkspace();
      const gateways = [clientOf({ leases: true }), clientOf({ leases: true })];
      const spend = async (client: (typeof gateways)[number]) => {
        let spentMicros = 0;
        let leased = 0;
        for (;;) {
          const granted = await client.reserve({ ...call, amountMicros: 5 });
          if (!granted.allowed) return { spentMicros, leased, denial: granted.denial };
          await granted.settle({ amountMicros: 5 });
          spentMicros += 5;
          if (granted.leaseId !== null) leased += 1;
        }
      };
      const results = await Promise.all(gateways.map(spend));
      await Promise.all(gateways.map((client) => client.close()));
      const spentMicros = results.reduce((sum, result) => sum + result.spentMicros, 0);
      expect(spentMicros).toBeGreaterThan(0.9 * DAILY_MICROS);
      for (const { leased, denial } of results) {
        expect(leased).toBeGreaterThan(0);
        expect(denial).toMatchObject({ scope: 'workspace', requested_micros: 5 });
      }
      const overspend_micros = { above_hold: 0, late: 0, unreserved: 0 };
      expect(await limit()).toMatchObject({ spent_micros: spentMicros, held_micros: 0, overspend_micros });
    });

    it('has its key refused at once, also if it continues while Tollkeeper is down', async () => {
      await startWorkspace();
      const client = clientOf({ key: `${workspace.apiKey}x`, onUnavailable: 'allow' });
      const refusal = { name: 'TollkeeperError', status: 401, requestId: expect.any(String) };
      await expect(client.reserve({ ...call, amountMicros: 1 })).rejects.toMatchObject(refusal);
    });

    it('that continues while reservations are down has its spend counted once, and shown as unreserved', async () => {
      await startWorkspace();
      const cutOff: typeof fetch = (input, init) =>
        String(input).endsWith('/reservations') ? Promise.reject(new TypeError('fetch failed')) : fetch(input, init);
      const client = clientOf({ onUnavailable: 'allow', timeoutMs: 200, fetch: cutOff });
      const allowed = await client.reserve({ ...call, amountMicros: 2_000 });
      if (!allowed.allowed) throw new Error('it was denied');
      await allowed.settle({ amountMicros: 1_500 });
      await allowed.settle({ amountMicros: 1_500 });
      await client.close();

      await eventually(async () => {
        expect(await limit()).toMatchObject({ spent_micros: 1_500, overspend_micros: { unreserved: 1_500 } });
      });
      // Posted after both, so once it is counted, both have been read.
      const { type, data } = {
        type: 'spend.settled',
        data: { run_id: 'run-1', agent_id: 'agent-b', amount_micros: 1 },
      } as const;
      await clientOf().report({ type, data: { ...data, settlement_id: 'last' } });
      await eventually(async () => {
        const { metrics } = await api.call('GET /api/v1/dashboard/spend', { query: { range: 'today' } });
        expect(metrics).toMatchObject({ total_micros: 1_501, unique_settlements: 2 });
      });
      expect(await limit()).toMatchObject({ spent_micros: 1_501 });
    });

    it('runs like the example of the client: reserve, call, settle', async () => {
      await startWorkspace();
      const env = {
        ...process.env,
        NODE_OPTIONS: '',
        TOLLKEEPER_URL: target().baseUrl,
        TOLLKEEPER_KEY: workspace.apiKey,
      };
      const run = () => promisify(execFile)(process.execPath, [EXAMPLE], { cwd: ROOT, env });
      const denied = { code: 3, stdout: expect.stringMatching(/^Denied: /) };
      // On a busy machine, the answer to its reservation may be too late.
      await eventually(async () => expect(await run().catch((error) => error)).toMatchObject(denied));

      await api.call('PUT /api/v1/workspaces/{tenant_id}/budgets/workspace', {
        path: { tenant_id: workspace.id },
        body: { daily_budget_usd_micros: null },
      });
      await eventually(async () => expect((await run()).stdout).toContain('It has cost 636 micros.'));
    });
  });
}
