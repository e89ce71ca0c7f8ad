import { describe, expect, it } from '@jest/globals';
import type { TenantId } from '@tollkeeper/kernel';
import { eventually, useMongo } from '@tollkeeper/testing';
import { type Body, event, newTenant, useAlerts } from './alerts.stack.ts';

const mongo = useMongo();
const stack = useAlerts(mongo);
const { clock } = stack;

const SECOND = 1000;

const settlement = (ago: number, data: { settlement_id: string; amount_micros: number; agent_id?: string }) =>
  event(clock.now - ago * SECOND, 'spend.settled', data);
const spendRule = (thresholdMicros: number, changes: Body = {}): Body => ({
  rule_kind: 'spend_gte',
  rule_config: { window_seconds: 60, threshold_micros: thresholdMicros },
  ...changes,
});

describe('a rule about spend', () => {
  const report = async (tenantId: TenantId, ...events: ReturnType<typeof settlement>[]) => {
    await stack.append(tenantId, ...events);
    await stack.settled();
    return stack.alerts(tenantId);
  };

  it('fires when the window reaches the threshold, also over a restart, and resolves by the clock', async () => {
    const tenantId = newTenant();
    const channel = await stack.createChannel(tenantId);
    const { id } = await stack.createRule(tenantId, spendRule(1000, { channel_config_ids: [channel.id] }));
    const first = settlement(50, { settlement_id: 'stl-1', amount_micros: 600 });
    const second = settlement(30, { settlement_id: 'stl-2', amount_micros: 399 });
    const third = settlement(20, { settlement_id: 'stl-3', amount_micros: 1 });

    expect(await report(tenantId, first, second, event(clock.now - 25 * SECOND))).toEqual([]);
    await stack.restart();
    const [alert] = await report(tenantId, third);

    expect(alert).toMatchObject({
      ...{ rule_kind: 'spend_gte', event_types: ['spend.settled'], threshold: 0, event_count: 3 },
      ...{ spend: { threshold_micros: 1000, settled_micros: 1000 }, sample_event_ids: [third.id, second.id, first.id] },
    });
    expect(await stack.evaluations(tenantId, id)).toMatchObject([{ spend: alert!['spend'], outcome: 'fired' }]);
    clock.now += 15 * SECOND;
    const sent = () => stack.notified.filter((each) => each.tenantId === tenantId);
    await eventually(() => expect(sent().map(({ type }) => type)).toEqual(['alert.fired', 'alert.resolved']));
    expect(sent()[0]!.alert).toMatchObject({ rule_kind: 'spend_gte', spend: alert!['spend'] });
  });

  it('counts a settlement once, also when another event reports it again after a restart', async () => {
    const tenantId = newTenant();
    await stack.createRule(tenantId, spendRule(1000));
    const once = { settlement_id: 'stl-1', amount_micros: 600 };
    expect(await report(tenantId, settlement(50, once), settlement(50, once))).toEqual([]);
    await stack.restart();
    expect(await report(tenantId, settlement(50, once))).toEqual([]);
    expect(await report(tenantId, settlement(40, { settlement_id: 'stl-2', amount_micros: 400 }))).toHaveLength(1);
  });

  it('of an agent counts what this agent settles alone', async () => {
    const tenantId = newTenant();
    stack.peers.register(tenantId, 'agent-1');
    await stack.createRule(tenantId, spendRule(1000, { scope_type: 'agent', scope_id: 'agent-1' }));
    const other = { settlement_id: 'stl-1', amount_micros: 5000, agent_id: 'agent-2' };
    expect(await report(tenantId, settlement(50, other))).toEqual([]);
    const own = { settlement_id: 'stl-2', amount_micros: 1000, agent_id: 'agent-1' };
    expect(await report(tenantId, settlement(40, own))).toMatchObject([{ spend: { settled_micros: 1000 } }]);
  });

  it('starts with an empty window when its threshold is changed', async () => {
    const tenantId = newTenant();
    const { id } = await stack.createRule(tenantId, spendRule(1000));
    expect(await report(tenantId, settlement(50, { settlement_id: 'stl-1', amount_micros: 900 }))).toEqual([]);
    clock.now += SECOND;
    const body = { rule_config: { threshold_micros: 950 } };
    await stack.expecting(200, 'patch', tenantId, `/rules/${id}`, { body });
    expect(await report(tenantId, settlement(40, { settlement_id: 'stl-2', amount_micros: 949 }))).toEqual([]);
    const third = settlement(30, { settlement_id: 'stl-3', amount_micros: 1 });
    expect(await report(tenantId, third)).toMatchObject([{ spend: { threshold_micros: 950, settled_micros: 950 } }]);
  });
});
