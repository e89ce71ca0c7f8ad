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
const WEEK = 168 * HOUR;

const RULE: Body = { rule_kind: 'deviation_gte', rule_config: { times: 3, min_micros: 1000 } };
let settlements = 0;

const spend = async (tenantId: TenantId, agent_id: string, amount_micros: number, time = clock.now) => {
  settlements += 1;
  const data = { settlement_id: `stl-${settlements}`, agent_id, amount_micros };
  const settled = event(time, 'spend.settled', data);
  await stack.append(tenantId, settled);
  await stack.settled();
  return settled.id;
};
const stored = (name: string) =>
  mongo.connection.getClient().db(stack.database).collection<{ _id: string; condition?: object }>(name);
const pieces = (ruleId: string) => stored('window_pieces').countDocuments({ _id: { $regex: `^${ruleId}/` } });

it('a deviation rule compares an hour of an agent with earlier weeks over restarts, and resolves after the hour', async () => {
  const tenantId = newTenant();
  const channel = await stack.createChannel(tenantId);
  const { id } = await stack.createRule(tenantId, { ...RULE, channel_config_ids: [channel.id] });
  // The first hour of an agent is known in part only.
  await spend(tenantId, 'agent-1', 2000);
  clock.now += HOUR;
  for (const usual of [900, 1500, 1000]) {
    await spend(tenantId, 'agent-1', usual);
    clock.now += WEEK;
    await stack.restart();
  }
  await spend(tenantId, 'agent-1', 2000);
  await spend(tenantId, 'agent-2', 50_000);
  expect(await stack.alerts(tenantId)).toEqual([]);
  clock.now += 60_000;
  const last = await spend(tenantId, 'agent-1', 1000);

  const hour = new Date(Math.floor(clock.now / HOUR) * HOUR).toISOString();
  const deviation = {
    ...{ agent_id: 'agent-1', hour, spent_micros: 3000, median_micros: 1000, weeks: 3 },
    ...{ times: 3, min_micros: 1000 },
  };
  const alerts = await stack.alerts(tenantId);
  expect(alerts).toMatchObject([
    { rule_kind: 'deviation_gte', threshold: 0, spend: null, sample_event_ids: [last], deviation },
  ]);
  // Release 0.1.0 reads it as an alert of a kind that it knows.
  const { condition } = (await stored('alerts').findOne({ _id: alerts[0]!.id }))!;
  expect(condition).toEqual({ kind: 'spend_gte', thresholdMicros: 3000 });
  const reasons = (await stack.evaluations(tenantId, id)).map(({ reason }) => reason);
  expect(reasons).toEqual(['condition_became_true', 'learning', 'learning']);

  clock.now += HOUR;
  const sent = () => stack.notified.filter((each) => each.tenantId === tenantId);
  await eventually(() => expect(sent().map(({ type }) => type)).toEqual(['alert.fired', 'alert.resolved']));
  expect(sent()[0]!.alert).toMatchObject({ rule_kind: 'deviation_gte', deviation });
});

it('what is stored of a deviation rule goes with it', async () => {
  const tenantId = newTenant();
  const { id } = await stack.createRule(tenantId, RULE);
  await spend(tenantId, 'agent-1', 1);
  await eventually(async () => expect(await pieces(id)).toBeGreaterThan(0));
  await stack.expecting(204, 'delete', tenantId, `/rules/${id}`);
  await eventually(async () => expect(await pieces(id)).toBe(0));
});

it('an edited deviation rule keeps nothing of before, not even of a day that began ahead of its time', async () => {
  const tenantId = newTenant();
  const { id } = await stack.createRule(tenantId, RULE);
  const midnight = Math.ceil(clock.now / DAY) * DAY;
  clock.now = midnight - 2 * MINUTE;
  // The clock of the sender is ahead.
  await spend(tenantId, 'agent-1', 5000, midnight + MINUTE);
  await eventually(async () => expect(await pieces(id)).toBeGreaterThan(0));
  await stack.expecting(200, 'patch', tenantId, `/rules/${id}`, {
    ...{ contentType: 'application/merge-patch+json', body: { rule_config: { times: 2 } } },
  });
  // The edited rule counts on both sides of that day.
  await spend(tenantId, 'agent-1', 10);
  clock.now = midnight + DAY;
  await spend(tenantId, 'agent-1', 10);
  await stack.restart();
  clock.now = midnight + 7 * DAY + MINUTE;
  await spend(tenantId, 'agent-1', 2000);
  expect(await stack.alerts(tenantId)).toMatchObject([{ deviation: { median_micros: 0, weeks: 1 } }]);
});

it('a deviation rule has a window of an hour and its own thresholds', async () => {
  const tenantId = newTenant();
  const { id, rule_config } = await stack.createRule(tenantId, RULE);
  const filters = { event_types: ['spend.settled'], percents: [], labels: {} };
  const thresholds = { threshold: 0, threshold_micros: 0, times: 3, min_micros: 1000 };
  expect(rule_config).toEqual({ window_seconds: 3600, ...thresholds, filters });
  for (const config of [{ window_seconds: 60 }, { times: 0 }, { min_micros: 0 }, { times: 1.5 }, { threshold: 1 }]) {
    const { details } = (await stack.expecting(400, 'patch', tenantId, `/rules/${id}`, {
      ...{ contentType: 'application/merge-patch+json', body: { rule_config: config } },
    })) as { details: { path: string }[] };
    expect(details.map(({ path }) => path)).toEqual([`rule_config.${Object.keys(config)[0]!}`]);
  }
});
