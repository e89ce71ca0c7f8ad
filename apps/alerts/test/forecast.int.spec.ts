import { expect, it } from '@jest/globals';
import type { TenantId } from '@tollkeeper/kernel';
import { eventually, useMongo } from '@tollkeeper/testing';
import { type Body, event, newTenant, useAlerts } from './alerts.stack.ts';

const mongo = useMongo();
const stack = useAlerts(mongo);
const { clock } = stack;

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;
/** Seven in the evening in the zone of the workspaces, whose day ends at 23:00 UTC. */
const EVENING = clock.now;
let settlements = 0;

interface StoredWindow {
  _id: string;
  forecast: { terms: object | null };
}

const spend = async (tenantId: TenantId, amount_micros: number) => {
  settlements += 1;
  await stack.append(
    tenantId,
    event(clock.now, 'spend.settled', { settlement_id: `stl-${settlements}`, amount_micros }),
  );
  await stack.settled();
};
/** What is settled before the rule knows its budget does not count. */
const knowsBudget = (tenantId: TenantId, ruleId: string) =>
  eventually(async () => {
    await spend(tenantId, 0);
    const windows = mongo.connection.getClient().db(stack.database).collection<StoredWindow>('windows');
    expect((await windows.findOne({ _id: ruleId }))?.forecast.terms).toMatchObject({ id: 'bud_workspace' });
  });
const createRule = (tenantId: TenantId, changes: Body = {}) =>
  stack.createRule(tenantId, { rule_kind: 'forecast_gte', rule_config: { percent: 100 }, ...changes });

it('a forecast rule warns before the budget of the day is used up, over restarts, once in a day and limit', async () => {
  const tenantId = newTenant();
  stack.peers.limits.set(tenantId, 10_000);
  const channel = await stack.createChannel(tenantId);
  const { id, rule_config } = await createRule(tenantId, { channel_config_ids: [channel.id] });
  expect(rule_config).toMatchObject({ percent: 100, window_seconds: 86_400 });
  await knowsBudget(tenantId, id);
  await spend(tenantId, 1000);
  clock.now = EVENING + 20 * MINUTE;
  await stack.restart();
  // 4000 in 200 minutes, and 280 minutes are left.
  await spend(tenantId, 3000);
  await stack.restart();
  expect(await stack.alerts(tenantId)).toEqual([]);
  await spend(tenantId, 200);

  const facts = {
    ...{ percent: 100, limit_micros: 10_000, spent_micros: 4200, pace_micros: 4200, weeks: 0, forecast_micros: 10_080 },
    ...{ budget_id: 'bud_workspace', period: { kind: 'day', end: '2026-11-21T23:00:00.000Z' } },
    // The rule is younger than the day.
    ...{ spent_since: new Date(EVENING).toISOString(), pace_since: '2026-11-21T15:00:00.000Z' },
    used_up_at: '2026-11-21T22:56:11.429Z',
  };
  expect(await stack.alerts(tenantId)).toMatchObject([{ rule_kind: 'forecast_gte', spend: null, forecast: facts }]);
  expect(await stack.evaluations(tenantId, id)).toMatchObject([{ outcome: 'fired', forecast: facts }]);
  await spend(tenantId, 200);
  expect(await stack.alerts(tenantId)).toHaveLength(1);
  // The hours of the pace pass without spend.
  clock.now = EVENING + 4 * HOUR + MINUTE;
  const sent = () => stack.notified.filter((each) => each.tenantId === tenantId);
  await eventually(() => expect(sent().map(({ type }) => type)).toEqual(['alert.fired', 'alert.resolved']));

  // The next day has its own spend, and begins as the last one ended; with another limit, the rule may fire again.
  clock.now = EVENING + DAY;
  await spend(tenantId, 4400);
  expect((await stack.alerts(tenantId))[0]).toMatchObject({ forecast: { spent_micros: 4400 } });
  stack.peers.limits.set(tenantId, 100_000);
  await stack.restart();
  await spend(tenantId, 100);
  expect(await stack.alerts(tenantId)).toHaveLength(2);
  stack.peers.limits.set(tenantId, 6000);
  clock.now += MINUTE;
  await eventually(async () => {
    await spend(tenantId, 1);
    expect((await stack.alerts(tenantId))[0]).toMatchObject({ forecast: { limit_micros: 6000 } });
  });
});

it('a forecast rule without a budget counts nothing, and says since when it counts once there is one', async () => {
  const tenantId = newTenant();
  const { id } = await createRule(tenantId);
  await spend(tenantId, 50_000);
  expect(await stack.evaluations(tenantId, id)).toEqual([]);
  stack.peers.limits.set(tenantId, 10_000);
  await knowsBudget(tenantId, id);
  clock.now += MINUTE;
  await spend(tenantId, 9999);
  const spent_since = new Date(clock.now - MINUTE).toISOString();
  expect(await stack.alerts(tenantId)).toMatchObject([{ forecast: { spent_micros: 9999, spent_since } }]);
});

it('a forecast rule is refused with a percentage or a budget that cannot be, and says what to change', async () => {
  const tenantId = newTenant();
  stack.peers.register(tenantId, 'agent-1');
  const body = (config: Body, changes: Body = {}) => ({
    ...{ name: 'Forecast', severity: 'high', scope_type: 'workspace', scope_id: tenantId, rule_kind: 'forecast_gte' },
    ...{ rule_config: { percent: 80, ...config }, ...changes },
  });
  const agent = { scope_type: 'agent', scope_id: 'agent-1' };
  for (const [given, field] of [
    [body({ percent: 0 }), 'percent'],
    [body({ percent: 201 }), 'percent'],
    [body({ percent: 0.5 }), 'percent'],
    [body({ window_seconds: 3600 }), 'window_seconds'],
    [body({ long_seconds: 3600 }), 'long_seconds'],
    [body({ filters: { labels: { team: 'red' } } }), 'filters.labels'],
    [body({ budget_id: 'bud_workspace' }, agent), 'budget_id'],
    [body({ budget_id: 'bud_none' }), 'budget_id'],
    [
      { ...body({}), rule_kind: 'spend_gte', rule_config: { window_seconds: 60, threshold_micros: 1, percent: 80 } },
      'percent',
    ],
  ] as const) {
    const { details } = (await stack.expecting(400, 'post', tenantId, '/rules', { body: given })) as {
      details: { path: string }[];
    };
    expect(details.map(({ path }) => path)).toContain(`rule_config.${field}`);
  }
  await stack.createRule(tenantId, body({}, agent));
});
