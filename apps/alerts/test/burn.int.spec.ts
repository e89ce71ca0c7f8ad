import { expect, it } from '@jest/globals';
import type { TenantId } from '@tollkeeper/kernel';
import { eventually, useMongo } from '@tollkeeper/testing';
import { type Body, event, newTenant, useAlerts } from './alerts.stack.ts';

const mongo = useMongo();
const stack = useAlerts(mongo);
const { clock } = stack;

const MINUTE = 60_000;
const BURN = { fraction: 0.25, long_seconds: 3600, short_seconds: 300 };
let settlements = 0;

const spend = async (tenantId: TenantId, amount_micros: number) => {
  settlements += 1;
  await stack.append(
    tenantId,
    event(clock.now, 'spend.settled', { settlement_id: `stl-${settlements}`, amount_micros }),
  );
  await stack.settled();
};

it('a rule about a burn rate follows the limit of the budget, over restarts, and resolves when the rate has fallen', async () => {
  const tenantId = newTenant();
  stack.peers.limits.set(tenantId, 10_000);
  const channel = await stack.createChannel(tenantId);
  const { id, rule_config } = await stack.createRule(tenantId, {
    ...{ rule_kind: 'burn_rate_gte', rule_config: BURN, channel_config_ids: [channel.id] },
  });
  expect(rule_config).toMatchObject({ ...BURN, window_seconds: 3600 });
  await spend(tenantId, 1500);
  clock.now += 20 * MINUTE;
  await spend(tenantId, 999);
  await stack.restart();
  expect(await stack.alerts(tenantId)).toEqual([]);
  await spend(tenantId, 1);

  const spent = { long_micros: 2500, short_micros: 1000, limit_micros: 10_000 };
  const burn = { ...BURN, ...spent, budget_id: 'bud_workspace', period: { kind: 'day' } };
  const [alert] = await stack.alerts(tenantId);
  // The day of the workspace, in its zone.
  expect(alert).toMatchObject({
    rule_kind: 'burn_rate_gte',
    burn: { ...burn, period: { end: '2026-11-21T23:00:00.000Z' } },
  });
  expect(await stack.evaluations(tenantId, id)).toMatchObject([{ outcome: 'fired', burn: spent }]);
  clock.now += 5 * MINUTE;
  const sent = () => stack.notified.filter((each) => each.tenantId === tenantId);
  await eventually(() => expect(sent().map(({ type }) => type)).toEqual(['alert.fired', 'alert.resolved']));

  stack.peers.limits.set(tenantId, 100_000);
  await stack.restart();
  await spend(tenantId, 5000);
  expect(await stack.alerts(tenantId)).toHaveLength(1);
  await spend(tenantId, 20_000);
  expect(await stack.alerts(tenantId)).toHaveLength(2);
});

it('a rule about a burn rate is refused with windows or a budget that cannot be, and says what to change', async () => {
  const tenantId = newTenant();
  stack.peers.limits.set(tenantId, 10_000);
  stack.peers.register(tenantId, 'agent-1');
  const body = (config: Body, changes: Body = {}) => ({
    ...{ name: 'Burns', severity: 'high', scope_type: 'workspace', scope_id: tenantId, rule_kind: 'burn_rate_gte' },
    ...{ rule_config: { ...BURN, ...config }, ...changes },
  });
  const agent = { scope_type: 'agent', scope_id: 'agent-1' };
  for (const [given, field] of [
    [body({ fraction: 0 }), 'fraction'],
    [body({ fraction: 0.0005 }), 'fraction'],
    [body({ long_seconds: 3601 }), 'long_seconds'],
    [body({ short_seconds: 3600 }), 'short_seconds'],
    [body({ short_seconds: 61 }), 'short_seconds'],
    [body({ window_seconds: 60 }), 'window_seconds'],
    [body({ filters: { labels: { team: 'red' } } }), 'filters.labels'],
    [body({ budget_id: 'bud_workspace' }, agent), 'budget_id'],
    [body({ budget_id: 'bud_none' }), 'budget_id'],
    [
      {
        ...body({}),
        rule_kind: 'spend_gte',
        rule_config: { window_seconds: 60, threshold_micros: 1, budget_id: 'bud_1' },
      },
      'budget_id',
    ],
  ] as const) {
    const { details } = (await stack.expecting(400, 'post', tenantId, '/rules', { body: given })) as {
      details: { path: string }[];
    };
    expect(details.map(({ path }) => path)).toContain(`rule_config.${field}`);
  }
  await stack.createRule(tenantId, body({ budget_id: 'bud_workspace' }));
  await stack.createRule(tenantId, body({}, agent));
});
