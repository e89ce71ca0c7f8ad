import { describe, expect, it } from '@jest/globals';
import type { GatewayEvent } from '@tollkeeper/contracts';
import { eventually, useMongo } from '@tollkeeper/testing';
import { budgetBlocked, encode, newTenant, settled, useDashboard } from './dashboard.stack.ts';

const mongo = useMongo();
const dashboard = useDashboard(mongo);
const today = '2026-11-21T12:00:00.000Z';

describe('the consumer of gateway.events', () => {
  it('sets aside what it can not read and counts what stands behind it', async () => {
    const tenantId = newTenant();
    const unreadable = [
      Buffer.from('not json'),
      Buffer.from('null'),
      Buffer.from('{"v":99}'),
      Buffer.from(JSON.stringify({ v: 1, tenant_id: { $gt: '' }, event: {} })),
    ].map((value) => ({ key: tenantId, value }));

    await dashboard.appendValues([...unreadable, encode(tenantId, settled(today, 5))]);

    await eventually(async () => {
      expect((await dashboard.get(tenantId, '/spend')).body.metrics.total_micros).toBe(5);
    });
    const dead = dashboard.logs.lines().filter((line) => String(line['msg']).startsWith('record set aside'));
    expect(dead).toHaveLength(unreadable.length);
  });

  it('counts and shows a blocked call whose scope is of a newer release of ingestion', async () => {
    const tenantId = newTenant();
    await dashboard.report(tenantId, [budgetBlocked(today, { scope: 'team' })]);
    const { body } = await dashboard.get(tenantId, '/budget-blocked');
    expect(body).toMatchObject({ total: 1, items: [{ scope: 'team' }] });
  });

  it('shows the budget that blocked a call, its value and period, where the producer names them', async () => {
    const tenantId = newTenant();
    const period = { kind: 'month', start: '2026-11-01T00:00:00.000Z', end: '2026-12-01T00:00:00.000Z' };
    const named = { budget_id: 'bud_1', budget_name: 'Growth team', value: 'zoe', limit_micros: 100, period };
    const later = '2026-11-21T12:00:01.000Z';
    await dashboard.report(tenantId, [
      budgetBlocked(today),
      budgetBlocked(later, { ...named, scope: 'budget', labels: { kind: 'batch' } }),
    ]);
    const { body: list } = await dashboard.get(tenantId, '/budget-blocked');
    const { body: run } = await dashboard.get(tenantId, '/budget-blocked/details?run_id=run-1');
    for (const [newest, oldest] of [list.items, run.events.toReversed()]) {
      expect(newest).toMatchObject({ ...named, scope: 'budget', labels: { kind: 'batch' } });
      expect(oldest).toMatchObject({ scope: 'agent', daily_budget_usd_micros: 100 });
      for (const field in named) expect(oldest).not.toHaveProperty(field);
    }
    const { body: details } = await dashboard.get(
      tenantId,
      `/budget-blocked/details?event_id=${list.items[0].event_id}`,
    );
    expect(details.event).toMatchObject({ ...named, scope: 'budget' });
  });

  it('shows the labels and the workspace key of settled and blocked calls', async () => {
    const tenantId = newTenant();
    const labels = { team: 'growth', 'cost.centre': '4711' };
    const events = [settled(today, 5, { labels }), budgetBlocked(today, { labels })];
    await dashboard.appendValues(events.map((event) => encode(tenantId, event, 'key_1')));
    await dashboard.caughtUp();
    const { body: blocked } = await dashboard.get(tenantId, '/budget-blocked');
    expect(blocked.items).toMatchObject([{ labels, key_id: 'key_1' }]);
    const { body: run } = await dashboard.get(tenantId, '/budget-blocked/details?run_id=run-1');
    expect(run.events.map(({ type }: { type: string }) => type).sort()).toEqual(['budget.blocked', 'spend.settled']);
    for (const event of run.events) expect(event).toMatchObject({ labels, key_id: 'key_1' });
  });

  it('sets aside a source that no database gives back as it was, and counts what stands beside and behind it', async () => {
    const tenantId = newTenant();
    const foreign = { ...settled(today, 100), source: '\ud800' };
    // The model is free text. Two models are distinct only if their names differ in the database.
    const models = ['\ud800', '\udfff'].map((model) => settled(today, 3, { model }));

    await dashboard.report(tenantId, [foreign, ...models]);
    await dashboard.report(tenantId, [foreign, ...models, settled(today, 5)]);

    expect((await dashboard.get(tenantId, '/spend')).body.metrics.total_micros).toBe(11);
  });

  it('counts the models that are too many for a day as other, and says so in answers, in a metric and in the log', async () => {
    const tenantId = newTenant();
    const models = Array.from({ length: 1_003 }, (_, number) => settled(today, 1, { model: `model-${number}` }));
    await dashboard.report(tenantId, models);
    await dashboard.report(tenantId, models.slice(0, 5));

    const other = { other: true, total_micros: 3, unique_settlements: 3 };
    const range = 'range=current_month';
    const breakdown = await dashboard.get(tenantId, `/spend/breakdown?by=model&limit=1&${range}`);
    expect(breakdown.body.groups).toMatchObject([{ key: null, ...other }]);
    expect(breakdown.body.others).toMatchObject({ count: 1_000, total_micros: 1_000 });
    const details = await dashboard.get(tenantId, `/top-agents/details?agent_id=planner&${range}`);
    expect(details.body.models[0]).toMatchObject({ model: null, ...other });
    expect(await dashboard.metricOf('dashboard_names_over_limit_total')).toMatchObject([
      { labels: { kind: 'model' }, value: 3 },
    ]);
    const warnings = dashboard.logs.lines().filter((line) => line['tenant_id'] === tenantId);
    expect(warnings).toMatchObject([{ reason: expect.stringContaining('more than 1000 models') }]);
  });

  it('counts every event once across restarts in the middle of the stream', async () => {
    const tenantId = newTenant();
    const events: GatewayEvent[] = Array.from({ length: 3000 }, (_, index) =>
      settled(new Date(Date.parse(today) - index * 60_000).toISOString(), 1 + (index % 7)),
    );
    const expected = events.reduce((sum, event) => sum + (event.data as { amount_micros: number }).amount_micros, 0);

    for (let at = 0; at < events.length; at += 500) {
      await dashboard.append(tenantId, events.slice(at, at + 500));
      if (at % 1000 === 0) await dashboard.restart();
    }
    // A gateway repeats events when it did not receive the 202.
    await dashboard.append(tenantId, events.slice(0, 400));
    await dashboard.report(tenantId, [events[0]!]);

    await eventually(async () => {
      const { metrics } = (await dashboard.get(tenantId, '/spend?range=current_month')).body;
      expect(metrics).toMatchObject({ total_micros: expected, unique_settlements: events.length });
    });
  });

  it('keeps of other event types only what it counts', async () => {
    const tenantId = newTenant();
    const data = { agent_id: 'planner', run_id: 'run-t', secret: { $gt: 'x' }, amount_micros: 'many' };
    await dashboard.report(tenantId, [
      { specversion: '1.0', id: 'tool-1', source: 'gw', type: 'tool.called', time: today, data },
    ]);

    const { body } = await dashboard.get(tenantId, '/overview?range=today');

    expect(body).toMatchObject({ active_agents: 1, runs: 1, spend: { total_micros: 0 } });
  });
});
