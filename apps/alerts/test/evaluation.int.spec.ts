import { describe, expect, it } from '@jest/globals';
import type { TenantId } from '@tollkeeper/kernel';
import { eventually, useMongo } from '@tollkeeper/testing';
import { type Body, event, newTenant, useAlerts } from './alerts.stack.ts';

const mongo = useMongo();
const stack = useAlerts(mongo);
const { clock } = stack;

const SECOND = 1000;

describe('the evaluation of events', () => {
  it('fires when the count is reached, and notifies the channels of the rule', async () => {
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

describe('a rule', () => {
  const rule = (config: Body, changes: Body = {}): Body => ({ rule_config: config, ...changes });
  const threeInAMinute = { window_seconds: 60, threshold: 3 };
  const triggers = async (tenantId: TenantId) =>
    (await stack.alerts(tenantId))
      .map(({ triggered_at: at }) => (Date.parse(String(at)) - clock.now) / SECOND)
      .toReversed();
  /** Sends events with times this many seconds from now, one after the other. */
  const report = async (tenantId: TenantId, ...seconds: number[]) => {
    const events = seconds.map((second) => event(clock.now + second * SECOND));
    await stack.append(tenantId, ...events);
    await stack.settled();
    return events;
  };

  it('fires again only after its condition was not met in between', async () => {
    const tenantId = newTenant();
    await stack.createRule(tenantId, rule(threeInAMinute));
    await report(tenantId, -200, -190, -180, -170, -160, -100, -90, -80);
    expect(await triggers(tenantId)).toEqual([-180, -80]);
  });

  it('counts an event once, however often it arrives, also across a restart', async () => {
    const tenantId = newTenant();
    await stack.createRule(tenantId, rule(threeInAMinute));
    const [first, second] = await report(tenantId, -20, -10);
    await stack.append(tenantId, first!, second!, first!);
    await stack.restart();
    await stack.append(tenantId, first!, second!);
    await stack.settled();
    expect(await triggers(tenantId)).toEqual([]);
    await report(tenantId, 0);
    expect(await triggers(tenantId)).toEqual([0]);
  });

  it('counts a settlement once, though another event reports it again', async () => {
    const tenantId = newTenant();
    await stack.createRule(tenantId, rule({ window_seconds: 60, threshold: 2 }));
    const settled = { settlement_id: 'stl-1', amount_micros: 5 };
    await stack.append(
      tenantId,
      event(clock.now, 'spend.settled', settled),
      event(clock.now, 'spend.settled', settled),
    );
    await stack.settled();
    expect(await triggers(tenantId)).toEqual([]);
  });

  it('counts late events at their own time, and those over 5 minutes late not at all', async () => {
    const tenantId = newTenant();
    await stack.createRule(tenantId, rule({ window_seconds: 600, threshold: 2 }));
    const late = async () =>
      (await stack.metric('alerts_events_total')).find(({ labels }) => labels['outcome'] === 'late');
    const before = (await late())?.value ?? 0;
    await report(tenantId, -300.001, 0);
    expect(await triggers(tenantId)).toEqual([]);
    expect((await late())?.value).toBe(before + 1);
    await report(tenantId, -300);
    expect(await triggers(tenantId)).toEqual([-300]);
  });

  it('suppresses in its cooldown, and says so in its evaluations', async () => {
    const tenantId = newTenant();
    const { id } = await stack.createRule(
      tenantId,
      rule({ window_seconds: 10, threshold: 1 }, { cooldown_seconds: 60 }),
    );
    const events = await report(tenantId, -120, -100, -60);
    const alerts = await stack.alerts(tenantId);
    expect(await triggers(tenantId)).toEqual([-120, -60]);
    expect(await stack.evaluations(tenantId, id)).toEqual([
      expect.objectContaining({
        outcome: 'fired',
        reason: 'condition_became_true',
        alert_id: alerts[0]!.id,
        event_id: events[2]!.id,
      }),
      {
        outcome: 'suppressed',
        reason: 'cooldown',
        count: 1,
        alert_id: null,
        event_id: events[1]!.id,
        event_time: events[1]!.time,
        window: { start: new Date(clock.now - 110 * SECOND).toISOString(), end: events[1]!.time },
        event_count: 1,
        rule_kind: 'event_count_gte',
        threshold: 1,
        spend: null,
        cooldown_until: new Date(clock.now - 60 * SECOND).toISOString(),
        evaluated_at: new Date(clock.now).toISOString(),
      },
      expect.objectContaining({ outcome: 'fired', alert_id: alerts[1]!.id, cooldown_until: null }),
    ]);
  });

  it('fires again after its cooldown while its condition is still met', async () => {
    const tenantId = newTenant();
    const { id } = await stack.createRule(
      tenantId,
      rule({ window_seconds: 60, threshold: 2 }, { cooldown_seconds: 30 }),
    );
    await report(tenantId, -50, -40, -30, -20, -11, -10, 0);
    expect(await triggers(tenantId)).toEqual([-40, -10]);
    const [last] = await stack.evaluations(tenantId, id);
    expect(last).toMatchObject({ outcome: 'fired', reason: 'condition_still_true_after_cooldown' });
  });

  it('keeps the last 100 decisions', async () => {
    const tenantId = newTenant();
    const { id } = await stack.createRule(tenantId, rule({ window_seconds: 1, threshold: 1 }));
    const events = await report(tenantId, ...Array.from({ length: 120 }, (_, index) => index - 120));
    const decided = (await stack.evaluations(tenantId, id)).map(({ event_id: eventId }) => eventId);
    expect(decided).toEqual(
      events
        .slice(20)
        .map((each) => each.id)
        .toReversed(),
    );
  });

  it('of the kind first_occurrence fires with an event that has no other in the window before it', async () => {
    const tenantId = newTenant();
    await stack.createRule(tenantId, rule({ window_seconds: 60 }, { rule_kind: 'first_occurrence' }));
    await report(tenantId, -200, -150, -100, -40, -30, 20, -250);
    expect(await triggers(tenantId)).toEqual([-250, -200, -40]);
  });

  it('counts only the types and the agent that it names', async () => {
    const tenantId = newTenant();
    stack.peers.register(tenantId, 'agent-2');
    const scope = { scope_type: 'agent', scope_id: 'agent-2' };
    const config = { window_seconds: 60, threshold: 2, filters: { event_types: ['tool.failed', 'guard.blocked'] } };
    await stack.createRule(tenantId, rule(config, scope));
    const guard = { guard: 'pii', reason: 'A card number' };
    await stack.append(
      tenantId,
      event(clock.now - 9, 'tool.failed', { agent_id: 'agent-2' }),
      event(clock.now - 8, 'tool.failed', { agent_id: 'agent-1' }),
      event(clock.now - 7, 'tool.called', { agent_id: 'agent-2' }),
      event(clock.now - 6, 'tool.failed', { agent_id: undefined }),
    );
    await stack.settled();
    expect(await stack.alerts(tenantId)).toEqual([]);
    await stack.append(tenantId, event(clock.now, 'guard.blocked', { agent_id: 'agent-2', ...guard }));
    await stack.settled();
    expect(await stack.alerts(tenantId)).toHaveLength(1);
  });

  it('sees nothing of other workspaces', async () => {
    const [tenantId, other] = [newTenant(), newTenant()];
    await stack.createRule(tenantId, rule({ window_seconds: 60, threshold: 1 }));
    await stack.createRule(other, rule(threeInAMinute));
    await report(other, -2, -1);
    expect([await triggers(tenantId), await triggers(other)]).toEqual([[], []]);
  });

  it('counts every event that is accepted after the answer to its creation, and none before', async () => {
    const tenantId = newTenant();
    await stack.append(tenantId, event(clock.now), event(clock.now));
    clock.now += 1;
    await stack.createRule(tenantId, rule({ window_seconds: 60, threshold: 2 }));
    await report(tenantId, 0);
    expect(await triggers(tenantId)).toEqual([]);
    await report(tenantId, 0);
    expect(await triggers(tenantId)).toEqual([0]);
  });

  it.each<[string, Body]>([
    ['another threshold', { rule_config: { threshold: 2 } }],
    ['another window', { rule_config: { window_seconds: 90 } }],
    ['other filters', { rule_config: { filters: { event_types: ['budget.blocked', 'tool.failed'] } } }],
    ['another scope', { scope_type: 'agent', scope_id: 'agent-1' }],
  ])('starts empty with %s', async (_case, body) => {
    const tenantId = newTenant();
    stack.peers.register(tenantId, 'agent-1');
    const { id } = await stack.createRule(tenantId, rule(threeInAMinute));
    await report(tenantId, -2, -1);
    clock.now += 1;
    await stack.expecting(200, 'patch', tenantId, `/rules/${id}`, { body });
    await report(tenantId, 0);
    expect(await triggers(tenantId)).toEqual([]);
  });

  it('starts empty as another kind', async () => {
    const tenantId = newTenant();
    const first = rule({ window_seconds: 60, threshold: 0 }, { rule_kind: 'first_occurrence' });
    const { id } = await stack.createRule(tenantId, first);
    await report(tenantId, -2, -1);
    clock.now += 1;
    const body = { rule_kind: 'event_count_gte', rule_config: { threshold: 2 } };
    await stack.expecting(200, 'patch', tenantId, `/rules/${id}`, { body });
    await report(tenantId, -1);
    expect(await triggers(tenantId)).toEqual([-2.001]);
    await report(tenantId, 0);
    expect(await triggers(tenantId)).toEqual([-2.001, 0]);
  });

  it('starts empty when it is enabled again, and counts nothing while it is not', async () => {
    const tenantId = newTenant();
    const { id } = await stack.createRule(tenantId, rule(threeInAMinute));
    await report(tenantId, -3);
    await stack.expecting(200, 'patch', tenantId, `/rules/${id}`, { body: { enabled: false } });
    await report(tenantId, -2, -1, 0);
    clock.now += 1;
    await stack.expecting(200, 'patch', tenantId, `/rules/${id}`, { body: { enabled: true } });
    await report(tenantId, 0, 0);
    expect(await triggers(tenantId)).toEqual([]);
    await report(tenantId, 0);
    expect(await triggers(tenantId)).toEqual([0]);
  });

  it('keeps its window through edits of what it does not count by, and notifies the channels that it has when it fires', async () => {
    const tenantId = newTenant();
    const { id } = await stack.createRule(tenantId, rule(threeInAMinute));
    await report(tenantId, -2, -1);
    const [channel, disabled] = [
      await stack.createChannel(tenantId),
      await stack.createChannel(tenantId, { enabled: false }),
    ];
    const body = { name: 'Renamed', severity: 'low', channel_config_ids: [channel.id, disabled.id] };
    await stack.expecting(200, 'patch', tenantId, `/rules/${id}`, { body });
    await report(tenantId, 0);
    const [alert] = await stack.alerts(tenantId);
    expect(alert).toMatchObject({ rule_name: 'Renamed', severity: 'low', deliveries: [{ channel_id: channel.id }] });
    expect(alert!.deliveries).toHaveLength(1);
  });

  it('fires without a channel that was deleted or disabled, and with one that was enabled', async () => {
    const tenantId = newTenant();
    const [deleted, disabled, enabled] = [
      await stack.createChannel(tenantId),
      await stack.createChannel(tenantId),
      await stack.createChannel(tenantId, { enabled: false }),
    ];
    const channel_config_ids = [deleted.id, disabled.id, enabled.id];
    const { id } = await stack.createRule(tenantId, rule({ window_seconds: 60, threshold: 1 }, { channel_config_ids }));
    await stack.changeChannel(tenantId, disabled.id, { enabled: false });
    await stack.changeChannel(tenantId, enabled.id, { enabled: true });
    await stack.deleteChannel(tenantId, deleted.id);
    await eventually(async () => {
      const { channel_config_ids: left } = await stack.expecting(200, 'get', tenantId, `/rules/${id}`);
      expect(left).toEqual([disabled.id, enabled.id]);
    });
    await report(tenantId, 0);
    const [alert] = await stack.alerts(tenantId);
    expect(alert!.deliveries.map(({ channel_id }) => channel_id)).toEqual([enabled.id]);
  });
});
