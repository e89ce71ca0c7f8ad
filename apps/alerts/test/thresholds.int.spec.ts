import { describe, expect, it } from '@jest/globals';
import type { TenantId } from '@tollkeeper/kernel';
import { eventually, useMongo } from '@tollkeeper/testing';
import { type Body, event, newTenant, useAlerts } from './alerts.stack.ts';

const mongo = useMongo();
const stack = useAlerts(mongo);
const { clock } = stack;

const SECOND = 1000;

/** An event some seconds ago: spend of `scopeId` reached `percent` of its budget. */
const reached = (ago: number, percent: number, scope: string, scopeId: string, ofBudget: Body = {}) =>
  event(clock.now - ago * SECOND, 'budget.threshold_reached', {
    ...{ run_id: undefined, agent_id: undefined, scope, scope_id: scopeId },
    ...percentOf(percent),
    ...{ spent_micros: percent, daily_budget_usd_micros: 100, ...ofBudget },
  });
/** Above 100, as the enforcer says it. */
const percentOf = (percent: number): Body => (percent > 100 ? { percent: 100, reached_percent: percent } : { percent });
const ruleAt = (percents: number[] | undefined, changes: Body = {}): Body => ({
  name: `At ${percents?.join(' and ') ?? 'any'}`,
  rule_config: {
    ...{ window_seconds: 600, threshold: 1 },
    filters: { event_types: ['budget.threshold_reached'], percents },
  },
  ...changes,
});

describe('a rule about thresholds of budgets', () => {
  const report = async (tenantId: TenantId, ...events: ReturnType<typeof reached>[]) => {
    await stack.append(tenantId, ...events);
    await stack.settled();
    return (await stack.alerts(tenantId)).map(({ rule_name: name }) => name);
  };

  it('fires at the percents that it counts and at no other', async () => {
    const tenantId = newTenant();
    for (const percents of [[80], [100]]) await stack.createRule(tenantId, ruleAt(percents));
    const [half, most] = [reached(50, 50, 'plan', 'pro'), reached(40, 80, 'plan', 'pro')];
    expect(await report(tenantId, half, most, most)).toEqual(['At 80']);
    await stack.restart();
    expect(await report(tenantId, most, reached(30, 100, 'plan', 'pro'))).toEqual(['At 100', 'At 80']);
  });

  it('fires at any percent without that filter, and says whose budget, how much and of what', async () => {
    const tenantId = newTenant();
    await stack.createRule(tenantId, ruleAt(undefined));
    expect(await report(tenantId, reached(40, 7, 'workspace', tenantId))).toEqual(['At any']);
    const amounts = { percent: 7, spent_micros: 7, daily_budget_usd_micros: 100 };
    const [alert] = await stack.alerts(tenantId);
    expect(alert).toMatchObject({ budget: { scope: 'workspace', scope_id: tenantId, ...amounts } });
  });

  it('fires for a budget of any calls up to twice its limit, and alert and notification name it, its value and period', async () => {
    const tenantId = newTenant();
    const channel = await stack.createChannel(tenantId);
    await stack.createRule(tenantId, ruleAt([120, 200], { cooldown_seconds: 1, channel_config_ids: [channel.id] }));
    const day = { start: '2026-11-01T00:00:00.000Z', end: '2026-12-01T00:00:00.000Z' };
    const named = { budget_id: 'bud_1', budget_name: 'Growth team', value: 'zoe', limit_micros: 100 };
    const ofBudget = { ...named, period: { kind: 'month', ...day } };
    const within = [reached(50, 100, 'budget', 'bud_1', ofBudget), reached(45, 120, 'plan', 'pro')];
    expect(await report(tenantId, ...within)).toEqual(['At 120 and 200']);
    expect(await report(tenantId, reached(40, 200, 'budget', 'bud_1', ofBudget))).toHaveLength(2);
    const budget = {
      ...{ scope: 'budget', scope_id: 'bud_1', ...percentOf(200), spent_micros: 200, daily_budget_usd_micros: 100 },
      ...ofBudget,
    };
    const [newest, older] = await stack.alerts(tenantId);
    expect(newest!['budget']).toEqual(budget);
    expect(Object.keys(older!['budget'] as Body)).not.toContain('period');
    await eventually(async () =>
      expect(stack.notified.filter((each) => each.tenantId === tenantId).map(({ alert }) => alert.budget)).toEqual([
        older!['budget'],
        budget,
      ]),
    );
  });

  it('of an agent fires for the budget of this agent alone', async () => {
    const tenantId = newTenant();
    stack.peers.register(tenantId, 'agent-1');
    await stack.createRule(tenantId, ruleAt([80], { scope_type: 'agent', scope_id: 'agent-1' }));
    const others = [reached(50, 80, 'agent', 'agent-2'), reached(50, 80, 'plan', 'agent-1')];
    expect(await report(tenantId, ...others)).toEqual([]);
    expect(await report(tenantId, reached(40, 80, 'agent', 'agent-1'))).toEqual(['At 80']);
  });

  it('starts with an empty window when its percents are changed', async () => {
    const tenantId = newTenant();
    const { id } = await stack.createRule(tenantId, {
      ...ruleAt([80]),
      rule_config: {
        ...{ window_seconds: 600, threshold: 2 },
        filters: { event_types: ['budget.threshold_reached'], percents: [80] },
      },
    });
    expect(await report(tenantId, reached(50, 80, 'plan', 'pro'))).toEqual([]);
    clock.now += SECOND;
    const body = { rule_config: { filters: { percents: [80, 100] } } };
    await stack.expecting(200, 'patch', tenantId, `/rules/${id}`, { body });
    expect(await report(tenantId, reached(40, 100, 'plan', 'pro'))).toEqual([]);
    expect(await report(tenantId, reached(30, 80, 'plan', 'pro'))).toEqual(['At 80']);
  });
});
