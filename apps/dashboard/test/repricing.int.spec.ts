import { describe, expect, it } from '@jest/globals';
import type { TenantId } from '@tollkeeper/kernel';
import { eventually, useMongo } from '@tollkeeper/testing';
import { newTenant, settled, useDashboard } from './dashboard.stack.ts';

const dashboard = useDashboard(useMongo());
const PATH = '/api/v1/prices:reprice';
const HOUR_MS = 3_600_000;
const noon = Date.parse('2026-11-20T12:00:00.000Z');
const at = (ms: number) => new Date(ms).toISOString();
const SPAN = { from: at(noon - 12 * HOUR_MS), to: at(noon + 12 * HOUR_MS) };
const WINDOW = `from=${SPAN.from}&to=${SPAN.to}`;
/** Ends amid an hour, so that a part of it is read from events. */
const CUT = `from=${at(noon - 1.3 * HOUR_MS)}&to=${at(noon + 0.7 * HOUR_MS)}`;

const tokens = (input: number, output = 0) => ({ input_tokens: input, output_tokens: output });
const BY_TABLE = { priced_by: 'table', price_id: 'gpt-4o', price_version: 'v1', model: 'gpt-4o', provider: 'openai' };
const UNPRICED = { priced_by: 'none', model: 'house-1' };

const owner = (tenantId: TenantId) => ({ tenantId, role: 'owner' }) as const;

async function reprice(tenantId: TenantId, body: object = SPAN) {
  const { status, body: job } = await dashboard.sendAs(owner(tenantId), 'post', PATH, body);
  expect(status).toBe(202);
  return eventually(async () => {
    const { body: now } = await dashboard.sendAs({ tenantId, role: 'member' }, 'get', `${PATH}/jobs/${job.id}`);
    expect(now).toMatchObject({ state: 'done', problem: null });
    return now;
  });
}

function setPrice(tenantId: TenantId, model: string, input: number, output = input): void {
  dashboard.budgets.setPrices(tenantId, [{ id: 'price_1', model, validFrom: 0, input, output }]);
}

const spendIn = async (tenantId: TenantId, query: string) =>
  (await dashboard.get(tenantId, `/spend?${query}`)).body as {
    metrics: { total_micros: number; unique_settlements: number };
    unpriced: { calls: number };
  };

describe('pricing calls again', () => {
  it('says in a dry run what would change by day, model, agent and budget, and changes nothing', async () => {
    const tenantId = newTenant();
    dashboard.budgets.setActive(tenantId, [
      { id: 'bud_house', selector: { model: 'house-1' }, overrides: [] } as never,
    ]);
    await dashboard.report(tenantId, [
      settled(at(noon), 0, { ...UNPRICED, ...tokens(1_000_003) }),
      settled(at(noon + 1), 0, { ...UNPRICED, ...tokens(10), agent_id: 'coder' }),
      settled(at(noon - 24 * HOUR_MS), 0, { ...UNPRICED, ...tokens(10) }),
      settled(at(noon), 7, { model: 'house-1', ...tokens(10) }),
      settled(at(noon), 2_500_000, { ...BY_TABLE, ...tokens(1_000_000) }),
    ]);
    setPrice(tenantId, 'house-1', 2_500_000);
    const job = await reprice(tenantId, { ...SPAN, dry_run: true });
    const both = { calls: 2, from_micros: 0, to_micros: 2_500_008 + 25 };
    expect(job).toMatchObject({
      ...{ dry_run: true, progress: { calls: 4, expected_calls: 4, read_until: SPAN.to }, ...both },
      by_day: [{ name: '2026-11-20', ...both }],
      by_model: [{ name: 'house-1', ...both }],
      by_agent: [
        { name: 'planner', calls: 1, from_micros: 0, to_micros: 2_500_008 },
        { name: 'coder', calls: 1, from_micros: 0, to_micros: 25 },
      ],
      by_budget: [{ name: 'bud_house', ...both }],
    });
    await dashboard.caughtUp();
    expect(await spendIn(tenantId, WINDOW)).toMatchObject({
      metrics: { total_micros: 2_500_007 },
      unpriced: { calls: 2 },
    });
  });

  it('corrects all figures by the difference, at both ends of windows, and no number of calls', async () => {
    const tenantId = newTenant('team');
    const labels = { team: 'growth', env: 'prod' };
    await dashboard.report(tenantId, [
      settled(at(noon), 0, { ...UNPRICED, ...tokens(1_000_000), labels, plan_key: 'pro', run_id: 'run-a' }),
      settled(at(noon + 0.5 * HOUR_MS), 9_000_000, { ...BY_TABLE, ...tokens(1_000_000), labels }),
      settled(at(noon - 1.2 * HOUR_MS), 5, { model: 'gpt-4o', ...tokens(1_000_000), labels }),
    ]);
    setPrice(tenantId, 'house-1', 3_000_000);
    await reprice(tenantId);
    // 3 USD for what had no price, 2.50 USD by the table for what had 9, and the sender's 5 micros.
    const metrics = { total_micros: 3_000_000 + 2_500_000 + 5, unique_settlements: 3 };
    for (const query of [WINDOW, CUT]) {
      expect(await spendIn(tenantId, query)).toMatchObject({ metrics, unpriced: { calls: 0 } });
      const { body: byModel } = await dashboard.get(tenantId, `/spend/breakdown?by=model&${query}`);
      expect(amounts(byModel)).toEqual({ 'house-1': 3_000_000, 'gpt-4o': 2_500_005 });
      const { body: byLabel } = await dashboard.get(tenantId, `/spend/breakdown?by=label:team&${query}`);
      expect(amounts(byLabel)).toEqual({ growth: metrics.total_micros });
      const { body: byPlan } = await dashboard.get(tenantId, `/spend/breakdown?by=plan&${query}`);
      expect(amounts(byPlan)).toMatchObject({ pro: 3_000_000 });
    }
    const { body: agent } = await dashboard.get(tenantId, `/top-agents/details?agent_id=planner&${WINDOW}`);
    expect(agent.recent.map((each: { amount_micros: number }) => each.amount_micros)).toEqual([
      2_500_000, 3_000_000, 5,
    ]);
  });

  it('adds nothing the second time, and the difference after another price, however often', async () => {
    const tenantId = newTenant();
    await dashboard.report(tenantId, [settled(at(noon), 0, { ...UNPRICED, ...tokens(1_000_000) })]);
    for (const [micros, calls] of [
      [5_000_000, 1],
      [5_000_000, 0],
      [1_000_000, 1],
      [8_000_000, 1],
      [0, 1],
    ] as const) {
      setPrice(tenantId, 'house-1', micros);
      expect(await reprice(tenantId)).toMatchObject({ calls });
      expect((await spendIn(tenantId, WINDOW)).metrics.total_micros).toBe(micros);
      dashboard.clock.now += 1;
    }
  });

  it('lists each correction beside its settlement, with what it adds and the facts of the call', async () => {
    const tenantId = newTenant();
    const facts = { plan_key: 'pro', labels: { team: 'growth' }, reservation_id: 'rsv_1' };
    await dashboard.report(tenantId, [settled(at(noon), 9_000_000, { ...BY_TABLE, ...tokens(1_000_000), ...facts })]);
    const { id } = await reprice(tenantId);
    const { settlements } = await dashboard.listSettlements({ tenantId, from: noon, until: noon + 1, cursor: '' });
    const call = { time: noon, agentId: 'planner', planKey: 'pro', model: 'gpt-4o', labels: { team: 'growth' } };
    const { settlementId } = settlements[0]!;
    expect(id).toMatch(/^rpr_/);
    expect(settlements).toMatchObject([
      { ...call, settlementId, amountMicros: 9_000_000 },
      { ...call, settlementId, amountMicros: -6_500_000, correctedAt: dashboard.clock.now },
    ]);
  });

  it('prices only the models that are named, and nothing that another workspace reported', async () => {
    const [tenantId, other] = [newTenant(), newTenant()];
    const events = () => [
      settled(at(noon), 0, { ...UNPRICED, ...tokens(1_000_000) }),
      settled(at(noon), 9_000_000, { ...BY_TABLE, ...tokens(1_000_000) }),
    ];
    await dashboard.report(tenantId, events());
    await dashboard.report(other, events());
    setPrice(tenantId, 'house-1', 1_000_000);
    setPrice(other, 'house-1', 1_000_000);
    const job = await reprice(tenantId, { ...SPAN, models: ['House-1'] });
    expect(job).toMatchObject({ calls: 1, models: ['House-1'] });
    expect((await spendIn(tenantId, WINDOW)).metrics.total_micros).toBe(10_000_000);
    expect((await spendIn(other, WINDOW)).metrics.total_micros).toBe(9_000_000);
    const path = `${PATH}/jobs/${job.id}`;
    expect((await dashboard.sendAs(owner(other), 'get', path)).status).toBe(404);
    expect((await dashboard.sendAs(owner(other), 'get', `${PATH}/jobs`)).body).toEqual({ items: [] });
    const { items } = (await dashboard.sendAs(owner(tenantId), 'get', `${PATH}/jobs`)).body;
    expect(items).toHaveLength(1);
    expect(job).toMatchObject(items[0]);
    expect(items[0]).not.toHaveProperty('by_day');
  });

  it('goes through thousands of calls page by page, each exactly once', async () => {
    const tenantId = newTenant('team');
    const calls = Array.from({ length: 9_500 }, (_, index) =>
      settled(at(noon + (index % 700) * 1000), index % 3, {
        ...(index % 2 === 0 ? UNPRICED : { priced_by: 'override', price_id: 'price_0', model: 'house-1' }),
        ...tokens(index),
        agent_id: `agent-${index % 7}`,
        labels: { team: `t${index % 3}` },
      }),
    );
    await dashboard.report(tenantId, calls);
    setPrice(tenantId, 'house-1', 1_000_000);
    const job = await reprice(tenantId);
    const total = (9_499 * 9_500) / 2;
    expect(job.progress).toMatchObject({ calls: 9_500, expected_calls: 9_500 });
    expect((await spendIn(tenantId, WINDOW)).metrics).toMatchObject({ total_micros: total, unique_settlements: 9_500 });
    const { body } = await dashboard.get(tenantId, `/spend/breakdown?by=agent&limit=20&${CUT}`);
    expect(Object.values(amounts(body)).reduce((sum, micros) => sum + micros, 0)).toBe(total);
  });

  it.each([
    ['a member', 'member', SPAN, 403],
    ['an end in the future', 'owner', { ...SPAN, to: at(noon + 400 * HOUR_MS) }, 400],
    ['an empty span', 'owner', { from: SPAN.to, to: SPAN.to }, 400],
    ['calls that are no longer stored', 'owner', { ...SPAN, from: at(noon - 101 * 24 * HOUR_MS) }, 400],
    ['no model', 'owner', { ...SPAN, models: [] }, 400],
  ] as const)('refuses %s', async (_name, role, body, status) => {
    const answer = await dashboard.sendAs({ tenantId: newTenant(), role }, 'post', PATH, body);
    expect(answer.status).toBe(status);
  });
});

function amounts(body: { groups: { key: string | null; total_micros: number }[] }): Record<string, number> {
  return Object.fromEntries(body.groups.map(({ key, total_micros }) => [String(key), total_micros]));
}
