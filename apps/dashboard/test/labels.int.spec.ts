import { describe, expect, it } from '@jest/globals';
import { eventually, useMongo } from '@tollkeeper/testing';
import { budgetBlocked, guardBlocked, newTenant, settled, track, useDashboard } from './dashboard.stack.ts';

const mongo = useMongo();
const dashboard = useDashboard(mongo);

/** The clock is at 2026-11-21T18:34:56.789Z. */
const today = '2026-11-21T12:00:00.000Z';
const yesterday = '2026-11-20T12:00:00.000Z';
const growth = { labels: { team: 'growth', env: 'prod' } };

describe('tracked labels', () => {
  it('divide spend by their values, with the settlements that have none', async () => {
    const tenantId = newTenant('cost.center', 'team');
    await dashboard.report(tenantId, [
      settled(yesterday, 30, growth),
      settled(today, 20, growth),
      settled(today, 40, { labels: { team: 'sales', 'cost.center': '42' } }),
      settled(today, 5, { labels: { team: 'research' } }),
      settled(today, 5, { labels: { env: 'prod' } }),
      guardBlocked(today, growth),
    ]);
    const byTeam = (await dashboard.get(tenantId, '/spend/breakdown?by=label:team&limit=2')).body;
    expect(byTeam).toMatchObject({ by: 'label:team', interval: '1d' });
    expect(byTeam.groups).toMatchObject([
      { key: 'growth', total_micros: 50, unique_settlements: 2, share_pct: 50 },
      { key: 'sales', total_micros: 40, unique_settlements: 1, share_pct: 40 },
    ]);
    expect(byTeam.others).toMatchObject({ count: 2, total_micros: 10 });
    expect(byTeam.points.slice(-2).map(({ micros }: { micros: number[] }) => micros)).toEqual([
      [30, 0, 0],
      [20, 40, 10],
    ]);
    const byCenter = (await dashboard.get(tenantId, '/spend/breakdown?by=label:cost.center')).body;
    expect(byCenter.groups).toMatchObject([
      { key: null, total_micros: 60 },
      { key: '42', total_micros: 40 },
    ]);
  });

  it('filter spend, its series and the lists of blocked calls', async () => {
    const tenantId = newTenant('team', 'cost.center');
    const loop = budgetBlocked(today, { ...growth, count: 12 });
    const blocked = guardBlocked(yesterday, { labels: { team: 'growth', 'cost.center': '42' } });
    await dashboard.report(tenantId, [
      settled(today, 20, growth),
      settled(today, 40, { labels: { team: 'sales' } }),
      ...[loop, blocked],
      budgetBlocked(today, { labels: { team: 'sales' } }),
      budgetBlocked(today),
    ]);
    const get = async (path: string) => (await dashboard.get(tenantId, path)).body;

    expect((await get('/spend?label.team=growth')).metrics).toMatchObject({ total_micros: 20, unique_settlements: 1 });
    expect((await get('/spend/series?label.team=growth')).points.slice(-2)).toMatchObject([
      { total_micros: 0, budget_blocked: 0, guard_blocked: 1 },
      { total_micros: 20, budget_blocked: 12, guard_blocked: 0 },
    ]);
    const list = await get('/budget-blocked?label.team=growth');
    expect([list.total, list.items.map(({ event_id }: { event_id: string }) => event_id)]).toEqual([12, [loop.id]]);
    const dotted = await get('/guard-blocked?label.cost.center=42');
    expect([dotted.total, dotted.items]).toMatchObject([1, [{ event_id: blocked.id }]]);
    expect(await get('/budget-blocked?label.team=nobody')).toMatchObject({ total: 0, items: [] });
  });

  it('filter lists by page, each event once, in the order of the list', async () => {
    const tenantId = newTenant('team');
    const times = Array.from({ length: 5 }, (_, minute) => `2026-11-21T12:0${minute}:00.000Z`);
    const ofGrowth = times.map((time) => budgetBlocked(time, growth));
    const ofSales = times.map((time) => budgetBlocked(time, { labels: { team: 'sales' } }));
    await dashboard.report(tenantId, [...ofGrowth, ...ofSales]);
    const found: string[] = [];
    let cursor = '';
    do {
      const path = `/budget-blocked?label.team=growth&limit=2${cursor && `&cursor=${encodeURIComponent(cursor)}`}`;
      const { body } = await dashboard.get(tenantId, path);
      found.push(...body.items.map(({ event_id }: { event_id: string }) => event_id));
      cursor = body.next_cursor ?? '';
    } while (cursor !== '');
    expect(found).toEqual(ofGrowth.map(({ id }) => id).toReversed());
  });

  it('count from the time on when they are tracked, and those of other workspaces not at all', async () => {
    const [tenantId, other] = [newTenant(), newTenant('team')];
    const byTeam = '/spend/breakdown?by=label:team&range=today';
    await dashboard.report(tenantId, [settled(today, 10, growth)]);
    await dashboard.report(other, [settled(today, 7, growth)]);
    expect((await dashboard.get(tenantId, byTeam)).status).toBe(400);
    track(tenantId, ['team']);
    await eventually(async () => expect((await dashboard.get(tenantId, byTeam)).status).toBe(200));
    await dashboard.report(tenantId, [settled(today, 30, growth)]);
    expect((await dashboard.get(tenantId, byTeam)).body.groups).toMatchObject([
      { key: 'growth', total_micros: 30 },
      { key: null, total_micros: 10 },
    ]);
  });

  it('are those of the newest settings only: others are refused with those that there are', async () => {
    const tenantId = newTenant('team', 'env');
    for (const [path, at] of [
      ['/spend/breakdown?by=label:user', 'by'],
      ['/spend?label.user=zoe', 'label.user'],
      ['/budget-blocked?label.user=zoe', 'label.user'],
    ] as const) {
      const { status, body } = await dashboard.get(tenantId, path);
      const message = expect.stringContaining('it tracks team, env. An owner can add it to tracked_labels');
      expect([status, body.details]).toEqual([400, [{ path: at, message }]]);
    }
    const { body } = await dashboard.get(newTenant(), '/spend/breakdown?by=label:team');
    expect(body.details[0].message).toContain('it tracks none');
  });

  it.each([
    ['/spend/breakdown?by=team', 'by', 'must be agent, model, plan, or label:'],
    ['/spend/breakdown?by=label:Team', 'by', 'must be agent, model, plan, or label:'],
    ['/spend/breakdown?by=agent&label.team=growth', 'label.team', 'cannot filter this drilldown'],
    ['/overview?label.team=growth', 'label.team', 'cannot filter this drilldown'],
    ['/top-agents?label.team=growth', 'label.team', 'cannot filter this drilldown'],
    ['/top-agents/details?agent_id=a&label.team=growth', 'label.team', 'cannot filter this drilldown'],
    ['/guard-blocked/details?event_id=e&label.team=growth', 'label.team', 'cannot filter this drilldown'],
    ['/spend?label.team=growth&label.env=prod', 'label.env', 'cannot be combined with another label'],
    ['/budget-blocked?label.team=growth&agent_id=a', 'agent_id', 'cannot be combined with label.team'],
    ['/spend?label.team=', 'label.team', 'must be 1 to 128 printable characters'],
    ['/spend?label.Team=growth', 'label.Team', 'must be a name'],
    ['/spend?label=growth', 'label', 'must be given as label.NAME=VALUE'],
    ['/spend?label.team=a&label.team=b', 'label.team', 'must be given only once'],
  ])('are not asked for with %s: %s %s', async (path, at, message) => {
    const { status, body } = await dashboard.get(newTenant('team', 'env'), path);
    expect([status, body.details]).toEqual([400, [{ path: at, message: expect.stringContaining(message) }]]);
  });

  it('do not stop recording while identity is down: events count, and labels as they are known', async () => {
    const [known, unknown] = [newTenant('team'), newTenant('team')];
    await dashboard.report(known, [settled(today, 10, growth)]);
    await dashboard.stopIdentity();
    await dashboard.report(unknown, [settled(today, 30, growth)]);
    await dashboard.report(known, [settled(today, 5, growth)]);
    const total = (await dashboard.get(unknown, '/spend?range=today&timezone=UTC')).body.metrics;
    expect(total.total_micros).toBe(30);
    const byTeam = '/spend/breakdown?by=label:team&range=today&timezone=UTC';
    expect((await dashboard.get(known, byTeam)).body.groups).toMatchObject([{ key: 'growth', total_micros: 15 }]);
    expect(await dashboard.get(unknown, byTeam)).toMatchObject({ status: 503, body: { code: 'service_unavailable' } });
  });
});
