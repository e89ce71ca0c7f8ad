import { describe, expect, it } from '@jest/globals';
import { useMongo } from '@tollkeeper/testing';
import { budgetBlocked, guardBlocked, newTenant, settled, useDashboard } from './dashboard.stack.ts';
import { documentsRead } from './documents-read.ts';

const mongo = useMongo();
const dashboard = useDashboard(mongo);

/** The clock is at 2026-11-21T18:34:56.789Z. */
const today = '2026-11-21T12:00:00.000Z';
const yesterday = '2026-11-20T12:00:00.000Z';

describe('/top-agents', () => {
  it('lists agents by spend, with their names and their share', async () => {
    const tenantId = newTenant();
    await dashboard.report(tenantId, [
      settled(today, 75, { input_tokens: 11, output_tokens: 12 }),
      settled(today, 25, { agent_id: 'coder' }),
      guardBlocked(yesterday, { agent_id: 'watched' }),
    ]);

    const { body } = await dashboard.get(tenantId, '/top-agents?range=1m');

    expect(body.items).toEqual([
      {
        agent_id: 'planner',
        display_name: 'The Planner',
        total_micros: 75,
        unique_settlements: 1,
        input_tokens: 11,
        output_tokens: 12,
        share_pct: 75,
        budget_blocked: 0,
        guard_blocked: 0,
        last_seen_at: today,
      },
      expect.objectContaining({ agent_id: 'coder', display_name: 'coder', share_pct: 25 }),
      expect.objectContaining({ agent_id: 'watched', share_pct: 0, guard_blocked: 1, last_seen_at: yesterday }),
    ]);
  });

  it('lists at most limit agents, and refuses a limit out of bounds', async () => {
    const tenantId = newTenant();
    await dashboard.report(tenantId, [settled(today, 2), settled(today, 1, { agent_id: 'coder' })]);
    expect((await dashboard.get(tenantId, '/top-agents?limit=1')).body.items).toHaveLength(1);
    for (const limit of ['0', '101', 'ten', '', '1e1', '-1']) {
      const response = await dashboard.get(tenantId, `/top-agents?limit=${limit}`);
      expect([limit, response.status]).toEqual([limit, 400]);
      expect(response.body.details).toMatchObject([{ path: 'limit' }]);
    }
  });
});

describe('/top-agents/details', () => {
  it("shows one agent's spend over time, by model, and its newest settlements", async () => {
    const tenantId = newTenant();
    await dashboard.report(tenantId, [
      settled('2026-11-21T10:00:00.000Z', 10, {
        model: 'opus',
        provider: 'p',
        input_tokens: 3,
        reservation_id: 'rsv_1',
      }),
      settled('2026-11-21T11:00:00.000Z', 30, { settlement_id: 'newest' }),
      settled('2026-11-21T11:00:00.000Z', 9999, { agent_id: 'coder' }),
    ]);

    const { body } = await dashboard.get(tenantId, '/top-agents/details?agent_id=planner&range=today');

    expect(body).toMatchObject({
      agent: { agent_id: 'planner', display_name: 'The Planner' },
      metrics: { total_micros: 40, unique_settlements: 2, avg_micros_per_settlement: 20, input_tokens: 3 },
      budget: { daily_budget_usd_micros: null },
      models: [
        { model: null, total_micros: 30, unique_settlements: 1, input_tokens: 0, output_tokens: 0 },
        { model: 'opus', total_micros: 10, unique_settlements: 1, input_tokens: 3, output_tokens: 0 },
      ],
      recent: [{ settlement_id: 'newest' }, { model: 'opus', provider: 'p', input_tokens: 3, reservation_id: 'rsv_1' }],
    });
    expect(body.recent[0]).not.toHaveProperty('reservation_id');
    expect(body.points[10]).toMatchObject({ total_micros: 10, input_tokens: 3 });
  });

  it('finds the settlements of an agent that rarely or never settles without reading what else it did', async () => {
    const tenantId = newTenant();
    const others = Array.from({ length: 300 }, (_, index) => {
      const time = new Date(Date.parse(yesterday) + index).toISOString();
      return [
        budgetBlocked(time),
        budgetBlocked(time, { agent_id: 'watched' }),
        settled(time, 1, { agent_id: 'coder' }),
      ];
    });
    await dashboard.report(tenantId, [...others.flat(), settled(today, 7)]);
    const database = mongo.connection.useDb(dashboard.database);

    for (const [agentId, recent] of [
      ['planner', [{ amount_micros: 7 }]],
      ['watched', []],
    ] as const) {
      const read = await documentsRead(database, async () => {
        const { body } = await dashboard.get(tenantId, `/top-agents/details?agent_id=${agentId}&range=1m`);
        expect(body.recent).toMatchObject(recent);
      });
      expect(read).toBe(recent.length);
    }
  });

  it('requires agent_id, takes an agent that is registered but was never seen, and answers 404 for any other', async () => {
    const tenantId = newTenant();
    const missing = await dashboard.get(tenantId, '/top-agents/details');
    expect([missing.status, missing.body.details[0].path]).toEqual([400, 'agent_id']);
    expect((await dashboard.get(tenantId, '/top-agents/details?agent_id=idle')).body.metrics.total_micros).toBe(0);
    expect((await dashboard.get(tenantId, '/top-agents/details?agent_id=stranger')).status).toBe(404);
  });
});
