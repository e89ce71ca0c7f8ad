import { describe, expect, it } from '@jest/globals';
import { useMongo } from '@tollkeeper/testing';
import { guardBlocked, newTenant, settled, useDashboard } from './dashboard.stack.ts';

const mongo = useMongo();
const dashboard = useDashboard(mongo);

/** The clock is at 2026-11-21T18:34:56.789Z. */
const today = '2026-11-21T12:00:00.000Z';
const yesterday = '2026-11-20T12:00:00.000Z';

describe('/spend/breakdown', () => {
  const share = (total_micros: number, share_pct: number) => ({
    ...{ total_micros, unique_settlements: 1, input_tokens: 0, output_tokens: 0, share_pct },
  });

  it('stacks the agents that spent most, and all others, on the points of the series', async () => {
    const tenantId = newTenant();
    await dashboard.report(tenantId, [
      settled('2026-11-21T01:30:00.000Z', 60, { input_tokens: 70, output_tokens: 8 }),
      settled('2026-11-21T18:34:56.788Z', 5),
      settled(today, 20, { agent_id: 'coder' }),
      settled(today, 10, { agent_id: 'b' }),
      settled(today, 5, { agent_id: 'c' }),
      settled(yesterday, 900, { agent_id: 'c' }),
      guardBlocked(today, { agent_id: 'watched' }),
    ]);

    const { body } = await dashboard.get(tenantId, '/spend/breakdown?by=agent&range=today&limit=2');

    expect(body).toMatchObject({ by: 'agent', interval: '1h', window: { kind: 'today', timezone: 'UTC' } });
    const planner = { total_micros: 65, unique_settlements: 2, input_tokens: 70, output_tokens: 8, share_pct: 65 };
    expect(body.groups).toEqual([
      { key: 'planner', display_name: 'The Planner', ...planner },
      { key: 'coder', display_name: 'coder', ...share(20, 20) },
    ]);
    expect(body.others).toEqual({ count: 2, ...share(15, 15), unique_settlements: 2 });
    expect(body.points).toHaveLength(19);
    expect([body.points[1], body.points[12], body.points[18]]).toEqual([
      { start: '2026-11-21T01:00:00.000Z', micros: [60, 0, 0] },
      { start: '2026-11-21T12:00:00.000Z', micros: [0, 20, 15] },
      { start: '2026-11-21T18:00:00.000Z', micros: [5, 0, 0] },
    ]);
  });

  it('stacks models over all agents, with those that name none', async () => {
    const tenantId = newTenant();
    await dashboard.report(tenantId, [
      settled(today, 10, { model: 'opus' }),
      settled(today, 20, { model: 'opus', agent_id: 'coder' }),
      settled(yesterday, 70),
    ]);

    const { body } = await dashboard.get(tenantId, '/spend/breakdown?by=model');

    expect(body.groups).toEqual([
      { key: null, ...share(70, 70) },
      { key: 'opus', ...share(30, 30), unique_settlements: 2 },
    ]);
    expect(body.others).toBeNull();
    expect(body.points.map(({ micros }: { micros: number[] }) => micros).slice(-2)).toEqual([
      [70, 0],
      [0, 30],
    ]);
  });

  it('stacks plans over all agents, with the settlements that name none', async () => {
    const tenantId = newTenant();
    await dashboard.report(tenantId, [
      settled(today, 10, { plan_key: 'pro' }),
      settled(today, 20, { plan_key: 'pro', agent_id: 'coder' }),
      settled(today, 10),
      settled(yesterday, 60, { plan_key: 'free' }),
    ]);

    const { body } = await dashboard.get(tenantId, '/spend/breakdown?by=plan&limit=2');

    expect(body.groups).toEqual([
      { key: 'free', ...share(60, 60) },
      { key: 'pro', ...share(30, 30), unique_settlements: 2 },
    ]);
    expect(body.others).toEqual({ count: 1, ...share(10, 10) });
    expect(body.points.map(({ micros }: { micros: number[] }) => micros).slice(-2)).toEqual([
      [60, 0, 0],
      [0, 30, 10],
    ]);
  });

  it.each([
    ['3m', 'America/New_York'],
    ['1m', 'Australia/Lord_Howe'],
    ['today', 'Asia/Kathmandu'],
    ['45min', 'UTC'],
  ])('over %s in %s has the points of the series, and adds up to it', async (range, zone) => {
    const tenantId = newTenant();
    const times = ['2026-08-30T04:00:00.000Z', '2026-11-01T04:30:00.000Z', today, '2026-11-21T18:20:00.000Z'];
    await dashboard.report(
      tenantId,
      times.map((time, index) => settled(time, 10 ** index, { agent_id: `agent-${index}` })),
    );
    const query = `range=${range}&timezone=${zone}`;
    const series = (await dashboard.get(tenantId, `/spend/series?${query}`)).body;

    const { body } = await dashboard.get(tenantId, `/spend/breakdown?by=agent&limit=2&${query}`);

    expect([body.window, body.interval]).toEqual([series.window, series.interval]);
    const sums = body.points.map(({ start, micros }: { start: string; micros: number[] }) => ({
      start,
      total_micros: micros.reduce((sum, value) => sum + value, 0),
    }));
    expect(series.points).toMatchObject(sums);
  });

  it('is empty for a workspace without spend', async () => {
    const tenantId = newTenant();
    await dashboard.report(tenantId, [guardBlocked(today)]);
    const { body } = await dashboard.get(tenantId, '/spend/breakdown?by=agent&range=yesterday');
    expect([body.groups, body.others, body.points.length]).toEqual([[], null, 24]);
    expect(body.points[0]).toEqual({ start: '2026-11-20T00:00:00.000Z', micros: [] });
  });

  it.each([
    ['', 'by'],
    ['by=run', 'by'],
    ['by=agent&limit=0', 'limit'],
    ['by=agent&limit=21', 'limit'],
  ])('refuses ?%s and names the parameter', async (query, path) => {
    const answer = await dashboard.get(newTenant(), `/spend/breakdown?${query}`);
    expect(answer).toMatchObject({ status: 400, body: { details: [{ path }] } });
  });
});
