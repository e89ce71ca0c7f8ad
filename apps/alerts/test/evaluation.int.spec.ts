import { describe, expect, it } from '@jest/globals';
import { eventually, useMongo } from '@tollkeeper/testing';
import { type Body, event, newTenant, useAlerts } from './alerts.stack.ts';

const mongo = useMongo();
const stack = useAlerts(mongo);
const { clock } = stack;

const SECOND = 1000;

describe('the evaluation of events', () => {
  it('fires when the count is reached, and tells the channels of the rule', async () => {
    const tenantId = newTenant();
    const channel = await stack.createChannel(tenantId);
    const rule = await stack.createRule(tenantId, { channel_config_ids: [channel.id] });
    const events = [0, 1, 2].map((second) => event(clock.now - 10 * SECOND + second * SECOND));

    await stack.append(tenantId, ...events);

    const [alert] = await eventually(async () => {
      const alerts = await stack.alerts(tenantId);
      expect(alerts).toHaveLength(1);
      return alerts;
    });
    const newest = events[2]!.time;
    expect(alert).toMatchObject({
      id: expect.stringMatching(/^alrt_[0-9a-f]{32}$/),
      tenant_id: tenantId,
      rule_id: rule.id,
      rule_name: 'Blocked calls',
      rule_kind: 'event_count_gte',
      severity: 'high',
      status: 'firing',
      scope_type: 'workspace',
      scope_id: tenantId,
      event_types: ['budget.blocked'],
      window: { start: new Date(Date.parse(newest) - 60 * SECOND).toISOString(), end: newest },
      threshold: 3,
      event_count: 3,
      sample_event_ids: events.map(({ id }) => id).toReversed(),
      first_event_at: events[0]!.time,
      last_event_at: newest,
      triggered_at: newest,
      acknowledged_at: null,
      acknowledged_by: null,
      resolved_at: null,
    });
    expect(alert!.deliveries).toEqual([
      {
        type: 'alert.fired',
        channel_id: channel.id,
        channel_type: 'webhook',
        status: 'queued',
        attempts: 0,
        response_status: null,
        response_snippet: null,
        error: null,
        last_attempt_at: null,
        next_attempt_at: null,
      },
    ]);
    const record: Body = { ...alert };
    delete record['deliveries'];
    await eventually(() => {
      const mine = stack.notified.filter((notification) => notification.tenantId === tenantId);
      expect(mine).toEqual([
        {
          notificationId: expect.stringMatching(/^ntf_[0-9a-f]{32}$/),
          type: 'alert.fired',
          tenantId,
          channelId: channel.id,
          channelType: 'webhook',
          alert: record,
          occurredAt: new Date(clock.now).toISOString(),
        },
      ]);
    });
    const { last_fired_at: lastFiredAt } = await stack.expecting(200, 'get', tenantId, `/rules/${rule.id}`);
    expect(lastFiredAt).toBe(newest);
  });
});
