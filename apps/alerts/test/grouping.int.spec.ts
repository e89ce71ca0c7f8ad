import { describe, expect, it } from '@jest/globals';
import type { NotificationType, ReadNotification } from '@tollkeeper/contracts';
import type { TenantId } from '@tollkeeper/kernel';
import { eventually, useMongo } from '@tollkeeper/testing';
import { type Body, event, newTenant, useAlerts } from './alerts.stack.ts';

const mongo = useMongo();
const stack = useAlerts(mongo);
const { clock, createChannel, createRule, expecting } = stack;

const SECOND = 1000;
/** A rule that every event fires, and whose alerts resolve a second after it. */
const EVERY_EVENT = { rule_config: { window_seconds: 1, threshold: 1 }, group_seconds: 300 };

async function watched(fields: Body = {}, channel: Body = {}) {
  const tenantId = newTenant();
  const { id: channelId } = await createChannel(tenantId, channel);
  const rule = await createRule(tenantId, { ...EVERY_EVENT, channel_config_ids: [channelId], ...fields });
  return { tenantId, channelId, rule };
}

/** Fires an alert for each of these times, in seconds from now. It resolves once the clock is there. */
async function fire(tenantId: TenantId, ...seconds: number[]): Promise<void> {
  await stack.append(tenantId, ...seconds.map((ahead) => event(clock.now + ahead * SECOND)));
  await stack.settled();
}

const first = (count: number) => Array.from({ length: count }, (_, index) => index + 1);

/** The messages of the workspace so far, each once, in the order of its channel. */
function messages(tenantId: TenantId, type: NotificationType = 'alert.fired'): ReadNotification[] {
  const ofType = stack.notified.filter((each) => each.tenantId === tenantId && each.type === type);
  return [...new Map(ofType.map((each) => [each.notificationId, each])).values()];
}

const counts = (tenantId: TenantId, type?: NotificationType) =>
  messages(tenantId, type).map(({ group }) => group && [group.total, group.resolved]);

/** Expects the deliveries about alerts that fired, of the 50 newest alerts, to be like that. */
async function expectFired(tenantId: TenantId, expected: Body): Promise<void> {
  const deliveries = (await stack.alerts(tenantId)).flatMap((alert) => alert.deliveries);
  const fired = deliveries.filter(({ type }) => type === 'alert.fired');
  expect(fired).toEqual(fired.map(() => expect.objectContaining(expected)));
  expect(fired.length).toBeGreaterThan(0);
}

/** Waits until as many of the 50 newest alerts are resolved. */
const resolve = (tenantId: TenantId, count: number) =>
  eventually(async () => {
    const resolved = (await stack.alerts(tenantId)).filter(({ status }) => status === 'resolved');
    expect(resolved.length).toBe(count);
  });

/** Fires an alert of a rule without grouping: its message shows that the service has sent what was due. */
async function otherIsSent(): Promise<void> {
  const { tenantId } = await watched({ group_seconds: 0 });
  await fire(tenantId, 1);
  await eventually(() => expect(counts(tenantId)).toEqual([undefined]));
}

describe('the alerts of a rule with group_seconds', () => {
  it('show in the metric of what is late, and delay no other workspace, while they can not be sent', async () => {
    const [stuck, other] = [await watched(), await watched()];
    await fire(stuck.tenantId, 3000);
    const collection = (name: string) => mongo.connection.useDb(stack.database).collection<{ _id: string }>(name);
    const { tenantId } = stuck;
    const group = await collection('message_groups').findOne<{ messageId: string }>({ tenantId });
    // The message cannot be stored while something else has its id.
    await collection('deliveries').insertOne({ _id: group!.messageId });
    clock.now += 360 * SECOND;
    const [age] = await stack.metric('alerts_oldest_undelivered_age_seconds');
    expect(age!.value).toBe(60);
    await fire(other.tenantId, 3000);
    clock.now += 300 * SECOND;
    await eventually(() => expect(counts(other.tenantId)).toEqual([[1, 0]]));
    expect(counts(tenantId)).toEqual([]);
    await collection('deliveries').deleteOne({ _id: group!.messageId });
    await eventually(() => expect(counts(tenantId)).toEqual([[1, 0]]));
  });

  it('are one message at the end, which names eleven of 240 and counts the others, also after a restart', async () => {
    const { tenantId, channelId, rule } = await watched();
    expect(rule).toMatchObject({ group_seconds: 300 });
    const dueAt = clock.now + 300 * SECOND;
    await fire(tenantId, ...first(240));
    const next_attempt_at = new Date(dueAt).toISOString();
    await expectFired(tenantId, { status: 'collected', attempts: 0, next_attempt_at });
    clock.now = dueAt - 1;
    await stack.restart();
    await resolve(tenantId, 50);
    await otherIsSent();
    expect(messages(tenantId)).toEqual([]);

    clock.now = dueAt;
    await eventually(() => expect(counts(tenantId)).toEqual([[240, 240]]));
    const [{ alert, group, notificationId }] = messages(tenantId) as [ReadNotification];
    expect(new Set([alert, ...group!.others].map(({ id }) => id)).size).toBe(11);
    expect(alert.triggered_at < group!.others[0]!.triggered_at).toBe(true);

    // Each alert shows what happened to the message.
    const ofGroup = { message_id: notificationId, alerts: 240 };
    await expectFired(tenantId, { status: 'queued', group: ofGroup });
    const [sent] = messages(tenantId);
    await stack.report({
      ...{ notificationId, type: 'alert.fired', tenantId, alertId: sent!.alert.id, channelId, channelType: 'webhook' },
      ...{ status: 'delivered', attempts: 2, responseStatus: 200, responseSnippet: 'ok', error: null },
      ...{ lastAttemptAt: next_attempt_at, nextAttemptAt: null, sequence: 2 },
    });
    const delivered = { status: 'delivered', attempts: 2, group: ofGroup, next_attempt_at: null };
    await eventually(() => expectFired(tenantId, delivered));
  });

  it('that are resolved meanwhile need no further message; those resolved later are one message again', async () => {
    const { tenantId } = await watched();
    await fire(tenantId, 2000, 2010, 2020, 2030);
    const byTime = (await stack.alerts(tenantId)).reverse();
    await expecting(200, 'post', tenantId, `/${byTime[1]!.id}:acknowledge`);
    await expecting(200, 'post', tenantId, `/${byTime[2]!.id}:resolve`);
    clock.now += 300 * SECOND;
    await eventually(() => expect(counts(tenantId)).toEqual([[4, 1]]));
    const [{ alert, group }] = messages(tenantId) as [ReadNotification];
    const named = [alert, ...group!.others].map(({ id, status }) => [id, status]);
    expect(named.sort()).toEqual(
      byTime.map(({ id }, index) => [id, ['firing', 'acknowledged', 'resolved', 'firing'][index]]).sort(),
    );
    expect(messages(tenantId, 'alert.resolved')).toEqual([]);

    // The other three resolve, and one that fires and resolves meanwhile is in a message of its own.
    clock.now += 1800 * SECOND;
    await fire(tenantId, 1);
    clock.now += 10 * SECOND;
    await resolve(tenantId, 5);
    clock.now += 300 * SECOND;
    await eventually(() => expect(counts(tenantId, 'alert.resolved')).toEqual([[3, 3]]));
    await eventually(() =>
      expect(counts(tenantId)).toEqual([
        [4, 1],
        [1, 1],
      ]),
    );
  });

  it('are an incident each at an incident tool, at once; so is a request for a raise at every channel', async () => {
    const paged = await watched({}, { type: 'pagerduty' });
    await fire(paged.tenantId, ...first(3));
    await eventually(() => expect(counts(paged.tenantId)).toEqual([undefined, undefined, undefined]));

    const filters = { event_types: ['raise.requested'] };
    const asked = await watched({ rule_config: { window_seconds: 3600, threshold: 1, filters } });
    const raise = {
      ...{ raise_id: 'rai_1', budget_id: 'bud_1', budget_name: 'Research', extra_micros: 10, reason: 'Night run' },
      ...{ until: new Date(clock.now).toISOString(), asked_by: 'Mia' },
    };
    await stack.append(asked.tenantId, event(clock.now, 'raise.requested', raise));
    await eventually(() => expect(counts(asked.tenantId)).toEqual([undefined]));
  });

  it('are grouped when a silence that held them back ends, and still name it', async () => {
    const { tenantId } = await watched();
    const ends_at = new Date(clock.now + 600 * SECOND).toISOString();
    const body = { matchers: [], ends_at, reason: 'Load test' };
    const { id } = await expecting(201, 'post', tenantId, '/silences', { body });
    await fire(tenantId, 3000, 3010, 3020);
    await expectFired(tenantId, { status: 'held' });
    await expecting(200, 'post', tenantId, `/silences/${id as string}:end`);
    const held = expect.objectContaining({ id });
    await eventually(() => expectFired(tenantId, { status: 'collected', held }));
    clock.now += 300 * SECOND;
    await eventually(() => expect(counts(tenantId)).toEqual([[3, 0]]));
  });

  it('still go out when the rule is deleted, and one by one once it groups them no longer', async () => {
    const { tenantId, rule } = await watched();
    await fire(tenantId, 3000, 3010);
    await expecting(200, 'patch', tenantId, `/rules/${rule.id}`, { body: { group_seconds: 0 } });
    await fire(tenantId, 3020);
    await eventually(() => expect(counts(tenantId)).toEqual([undefined]));
    await expecting(204, 'delete', tenantId, `/rules/${rule.id}`);
    clock.now += 300 * SECOND;
    await eventually(() => expect(counts(tenantId)).toEqual([undefined, [2, 0]]));
  });
});
