import { describe, expect, it } from '@jest/globals';
import { useMongo } from '@tollkeeper/testing';
import { budgetBlocked, guardBlocked, newTenant, settled, useDashboard } from './dashboard.stack.ts';

const dashboard = useDashboard(useMongo());

/** The clock is at 2026-11-21T18:34:56.789Z. */
const today = '2026-11-21T12:00:00.000Z';
const yesterday = '2026-11-20T12:00:00.000Z';

describe.each([
  ['/budget-blocked', budgetBlocked, { scope: 'agent', requested_micros: 5, daily_budget_usd_micros: 100 }],
  ['/guard-blocked', guardBlocked, { guard: 'pii', reason: 'The prompt holds a card number' }],
] as const)('%s', (path, blocked, why) => {
  it('lists the calls of one agent, with their number', async () => {
    const tenantId = newTenant();
    const lone = blocked(today);
    lone.data.agent_id = 'lone';
    await dashboard.report(tenantId, [blocked(today), lone, blocked(today)]);

    const { body } = await dashboard.get(tenantId, `${path}?range=1m&agent_id=lone`);
    expect([body.total, body.items.map((item: { event_id: string }) => item.event_id)]).toEqual([1, [lone.id]]);
  });

  it('pages through all items once, newest first, also where times are equal', async () => {
    const tenantId = newTenant();
    const events = Array.from({ length: 7 }, (_, index) => blocked(index < 4 ? today : yesterday));
    await dashboard.report(tenantId, [...events, settled(today, 1)]);

    const seen: string[] = [];
    let cursor = '';
    for (let pages = 0; pages < 4; pages++) {
      const { body } = await dashboard.get(tenantId, `${path}?range=1m&limit=2${cursor && `&cursor=${cursor}`}`);
      expect(body.total).toBe(7);
      expect(body.items[0]).toMatchObject(why);
      seen.push(...body.items.map((item: { event_id: string }) => item.event_id));
      cursor = body.next_cursor;
    }

    expect(cursor).toBeNull();
    expect(seen.toSorted()).toEqual(events.map((event) => event.id).toSorted());
    expect(seen.slice(0, 4).toSorted()).toEqual(
      events
        .slice(0, 4)
        .map((event) => event.id)
        .toSorted(),
    );
  });

  it('refuses a cursor that it did not make', async () => {
    for (const cursor of ['x', 'eyIkZ3QiOiIifQ', '%00']) {
      const response = await dashboard.get(newTenant(), `${path}?cursor=${cursor}`);
      expect([response.status, response.body.details[0].path]).toEqual([400, 'cursor']);
    }
  });

  it('shows an event in full by event_id, and a run with its settlements by run_id, oldest first', async () => {
    const tenantId = newTenant();
    const run = { run_id: 'run-x' };
    const [early, late] = [settled(yesterday, 4, { ...run, reservation_id: 'rsv_1' }), settled(today, 5, run)];
    const event = blocked('2026-11-21T02:00:00.000Z', run);
    await dashboard.report(tenantId, [late, event, early, settled(today, 1)]);

    const byEvent = await dashboard.get(tenantId, `${path}/details?event_id=${event.id}`);
    expect(byEvent.body.event).toMatchObject({ event_id: event.id, source: 'gw', type: event.type, ...why });

    const byRun = await dashboard.get(tenantId, `${path}/details?run_id=run-x`);
    expect(byRun.body.run_id).toBe('run-x');
    expect(byRun.body.events.map((one: { event_id: string }) => one.event_id)).toEqual([early.id, event.id, late.id]);
    expect(byRun.body.events[0]).toMatchObject({ settlement_id: `s-${early.id}`, reservation_id: 'rsv_1' });
  });

  it('shows a run that settled more calls than are shown before it was blocked', async () => {
    const tenantId = newTenant();
    const run = { run_id: 'run-long' };
    const settlements = Array.from({ length: 1001 }, (_, index) =>
      settled(new Date(Date.parse(yesterday) + index).toISOString(), 1, run),
    );
    const event = blocked(today, run);
    await dashboard.report(tenantId, [...settlements, event]);

    const { status, body } = await dashboard.get(tenantId, `${path}/details?run_id=run-long`);

    expect(status).toBe(200);
    const shown = [...settlements.slice(0, 1000), event];
    expect(body.events.map((one: { event_id: string }) => one.event_id)).toEqual(shown.map(({ id }) => id));
  });

  it('requires event_id or run_id, and answers 404 for what this workspace does not have', async () => {
    const tenantId = newTenant();
    const event = blocked(today, { run_id: 'run-y' });
    await dashboard.report(tenantId, [event, settled(today, 1, { run_id: 'run-z' })]);
    const statusOf = async (tenant: typeof tenantId, query: string) =>
      (await dashboard.get(tenant, `${path}/details${query}`)).status;

    expect(await statusOf(tenantId, '')).toBe(400);
    expect(await statusOf(tenantId, '?event_id=%00')).toBe(400);
    expect(await statusOf(newTenant(), `?event_id=${event.id}`)).toBe(404);
    expect(await statusOf(newTenant(), '?run_id=run-y')).toBe(404);
    expect(await statusOf(tenantId, '?run_id=run-z')).toBe(404);
  });
});

it('calls that a pause blocked have its id and its reason, and no budget', async () => {
  const tenantId = newTenant();
  const paused = { code: 'paused', pause_id: 'pau_1', pause_reason: 'Loops since 14:00' };
  await dashboard.report(tenantId, [budgetBlocked(today, { ...paused, daily_budget_usd_micros: 0, spent_micros: 0 })]);
  const { items, total } = (await dashboard.get(tenantId, '/budget-blocked?range=1m')).body;
  expect([total, items]).toEqual([1, [expect.objectContaining(paused)]]);
  expect(items[0]).not.toHaveProperty('budget_id');
  const { body } = await dashboard.get(tenantId, `/budget-blocked/details?event_id=${items[0].event_id}`);
  expect(body.event).toMatchObject(paused);
});
