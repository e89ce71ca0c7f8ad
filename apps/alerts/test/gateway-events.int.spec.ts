import { describe, expect, it } from '@jest/globals';
import { GATEWAY_EVENTS_TOPIC } from '@tollkeeper/contracts';
import { eventually, useMongo } from '@tollkeeper/testing';
import { event, newTenant, useAlerts } from './alerts.stack.ts';

const stack = useAlerts(useMongo());
const { clock } = stack;

const SECOND = 1000;

describe('the consumer of gateway.events', () => {
  it('decides the same through restarts in the middle of a stream, and sends each alert', async () => {
    const tenantId = newTenant();
    const channel = await stack.createChannel(tenantId);
    const { id: ruleId } = await stack.createRule(tenantId, {
      rule_config: { window_seconds: 10, threshold: 5 },
      channel_config_ids: [channel.id],
    });
    // Bursts of five events, 20 seconds apart. Every burst is one alert.
    const bursts = Array.from({ length: 14 }, (_, index) => clock.now - 280 * SECOND + index * 20 * SECOND);
    const events = bursts.flatMap((start) => Array.from({ length: 5 }, (_, index) => event(start + index * SECOND)));

    for (let at = 0; at < events.length; at += 9) {
      await stack.append(tenantId, ...events.slice(at, at + 9));
      if (at % 18 === 0) await stack.restart();
    }
    await stack.append(tenantId, ...events);
    await stack.settled();

    const alerts = await stack.alerts(tenantId);
    expect(alerts.map(({ last_event_at: at }) => Date.parse(String(at))).toReversed()).toEqual(
      bursts.map((start) => start + 4 * SECOND),
    );
    expect(new Set(alerts.map(({ id }) => id)).size).toBe(bursts.length);
    expect(await stack.evaluations(tenantId, ruleId)).toHaveLength(bursts.length);
    await eventually(() => {
      const fires = stack.notified.filter((each) => each.tenantId === tenantId && each.type === 'alert.fired');
      expect(new Set(fires.map((each) => each.notificationId)).size).toBe(bursts.length);
    });
  });

  it('decides, resolves and notifies the same while replicas come and go', async () => {
    const tenants = Array.from({ length: 8 }, newTenant);
    for (const tenantId of tenants) {
      const channel = await stack.createChannel(tenantId);
      const config = { window_seconds: 5, threshold: 3 };
      await stack.createRule(tenantId, { rule_config: config, channel_config_ids: [channel.id] });
    }
    // Bursts of three events, 10 seconds apart. Every burst is one alert per workspace.
    const bursts = Array.from({ length: 12 }, (_, index) => clock.now - 130 * SECOND + index * 10 * SECOND);
    let replica = await stack.startReplica();
    for (const [index, start] of bursts.entries()) {
      for (const tenantId of tenants) {
        await stack.append(tenantId, ...[0, 1, 2].map((second) => event(start + second * SECOND)));
      }
      if (index % 4 !== 3) continue;
      await replica.stop();
      replica = await stack.startReplica();
    }
    await stack.settled();

    for (const tenantId of tenants) {
      await eventually(async () => {
        const alerts = await stack.alerts(tenantId);
        expect(alerts.map(({ status }) => status)).toEqual(bursts.map(() => 'resolved'));
        expect(alerts.map(({ triggered_at: at }) => Date.parse(String(at))).toReversed()).toEqual(
          bursts.map((start) => start + 2 * SECOND),
        );
      });
      await eventually(() => {
        const sent = stack.notified.filter((each) => each.tenantId === tenantId);
        expect(new Set(sent.map((each) => each.notificationId)).size).toBe(2 * bursts.length);
      });
    }
    await replica.stop();
  });

  it('sets aside what it cannot read and evaluates what stands behind it', async () => {
    const tenantId = newTenant();
    await stack.createRule(tenantId, { rule_config: { window_seconds: 60, threshold: 1 } });
    await stack.appendRecord(GATEWAY_EVENTS_TOPIC, tenantId, Buffer.from('{"v":99}'));
    await stack.append(tenantId, event(clock.now));
    await stack.settled();
    expect(await stack.alerts(tenantId)).toHaveLength(1);
    expect(stack.logs.lines().filter((line) => String(line['msg']).startsWith('record set aside'))).toHaveLength(1);
  });
});
