import { describe, expect, it } from '@jest/globals';
import type { TenantId } from '@tollkeeper/kernel';
import { eventually, useMongo } from '@tollkeeper/testing';
import { type AlertBody, type Body, event, newTenant, useAlerts } from './alerts.stack.ts';

const mongo = useMongo();
const stack = useAlerts(mongo);
const { call, clock, createChannel, createRule, expecting } = stack;

const MINUTE = 60_000;
const at = (minutes: number) => new Date(clock.now + minutes * MINUTE).toISOString();
const BY_RULE_NAME = [{ field: 'rule_name', op: '=', value: 'Blocked*' }];
const EVERY_EVENT = { rule_config: { window_seconds: 7200, threshold: 1 } };

/** A workspace with a rule that every event of its type fires, and one of type `other` beside it, on one channel. */
async function watched(channel: Body = {}): Promise<{ tenantId: TenantId; channelId: string }> {
  const tenantId = newTenant();
  const { id: channelId } = await createChannel(tenantId, channel);
  const ofType = (type: string) => ({
    rule_kind: 'first_occurrence',
    rule_config: { window_seconds: 1, filters: { event_types: [type] } },
    channel_config_ids: [channelId],
  });
  await createRule(tenantId, { ...EVERY_EVENT, name: 'Blocked', channel_config_ids: [channelId] });
  await createRule(tenantId, { name: 'Other', ...ofType('other.event') });
  return { tenantId, channelId };
}

const silence = (tenantId: TenantId, changes: Body = {}) =>
  expecting(201, 'post', tenantId, '/silences', {
    body: { matchers: BY_RULE_NAME, ends_at: at(30), reason: 'Load test', ...changes },
  });

async function fire(tenantId: TenantId, type = 'budget.blocked'): Promise<void> {
  await stack.append(tenantId, event(clock.now, type));
  await stack.settled();
}

const alertOf = async (tenantId: TenantId, name = 'Blocked'): Promise<AlertBody> =>
  (await stack.alerts(tenantId)).find((alert) => alert['rule_name'] === name)!;

/** The messages about alerts of the workspace so far, each once, in the order of its channel. */
function messages(tenantId: TenantId): string[] {
  const ofTenant = stack.notified.filter((each) => each.tenantId === tenantId);
  return [...new Set(ofTenant.map(({ type, alert }) => `${alert.rule_name} ${type} ${alert.status}`))];
}

/** Fires the other rule: its message shows that no earlier one of the channel is on its way. */
async function messagesBeforeOther(tenantId: TenantId): Promise<string[]> {
  await fire(tenantId, 'other.event');
  return eventually(() => {
    const all = messages(tenantId);
    expect(all).toContain('Other alert.fired firing');
    return all;
  });
}

const becomes = (tenantId: TenantId, expected: string[]) =>
  eventually(() => expect(messages(tenantId)).toEqual(expected));

const OTHER = 'Other alert.fired firing';
const FIRED = 'Blocked alert.fired firing';
const held = (changes: Body = {}) => ({
  kind: 'silence',
  reason: 'Load test',
  created_by: { id: 'user_1' },
  ...changes,
});

describe('an alert that fires during a silence', () => {
  it('is in the history with who silenced it, why and until when; its message is sent once after the end', async () => {
    const [quiet, loud] = [await watched(), await watched()];
    const { id } = await silence(quiet.tenantId);
    for (const { tenantId } of [quiet, loud]) await fire(tenantId);
    await becomes(loud.tenantId, [FIRED]);
    expect(await messagesBeforeOther(quiet.tenantId)).toEqual([OTHER]);
    const until = at(30);
    expect(await alertOf(quiet.tenantId)).toMatchObject({
      status: 'firing',
      silenced_by: held({ id, until }),
      deliveries: [{ status: 'held', attempts: 0, held: held({ id, until }) }],
    });
    expect((await alertOf(loud.tenantId))['silenced_by']).toBeUndefined();

    clock.now += 30 * MINUTE - 1;
    await stack.restart();
    expect(await alertOf(quiet.tenantId)).toMatchObject({ deliveries: [{ status: 'held' }] });
    clock.now += 1;
    await eventually(() => expect(messages(quiet.tenantId)).toContain(FIRED));
    const alert = await alertOf(quiet.tenantId);
    expect(alert).toMatchObject({ deliveries: [{ status: 'queued', held: held({ id, until }) }] });
    expect(alert['silenced_by']).toBeUndefined();
    const ofAlert = stack.notified.filter((each) => each.alert.id === alert.id);
    expect(new Set(ofAlert.map(({ notificationId }) => notificationId)).size).toBe(1);
  });

  it('leaves a message that is never sent if it is resolved before the end', async () => {
    const { tenantId } = await watched();
    const { id } = await silence(tenantId);
    await fire(tenantId);
    const alert = await alertOf(tenantId);
    await expecting(200, 'post', tenantId, `/${alert.id}:resolve`);
    await expecting(200, 'post', tenantId, `/silences/${id as string}:end`);
    expect(await messagesBeforeOther(tenantId)).toEqual([OTHER]);
    expect(await alertOf(tenantId)).toMatchObject({
      status: 'resolved',
      deliveries: [{ type: 'alert.fired', status: 'dropped', held: held() }],
    });
  });

  it('is acknowledged at the incident tool right after it is sent, if somebody has acknowledged it', async () => {
    const { tenantId } = await watched({ type: 'pagerduty' });
    const { id } = await silence(tenantId);
    await fire(tenantId);
    await expecting(200, 'post', tenantId, `/${(await alertOf(tenantId)).id}:acknowledge`);
    expect(await messagesBeforeOther(tenantId)).toEqual([OTHER]);
    await expecting(200, 'post', tenantId, `/silences/${id as string}:end`);
    await becomes(tenantId, [OTHER, 'Blocked alert.fired acknowledged', 'Blocked alert.acknowledged acknowledged']);
  });

  it('waits for the last of several silences, and names that one', async () => {
    const { tenantId } = await watched();
    const { id: short } = await silence(tenantId);
    await fire(tenantId);
    const { id: long } = await silence(tenantId, { ends_at: at(60), reason: 'Longer' });
    clock.now += 30 * MINUTE;
    const isHeldByLong = held({ id: long, reason: 'Longer', until: at(30) });
    await eventually(async () =>
      expect(await alertOf(tenantId)).toMatchObject({ deliveries: [{ status: 'held', held: isHeldByLong }] }),
    );
    expect(short).not.toBe(long);
    clock.now += 30 * MINUTE;
    await becomes(tenantId, [FIRED]);
  });

  it('does not wait for the messages of another workspace that has hundreds, and two replicas send each once', async () => {
    const [busy, other] = [await watched(), await watched()];
    const ids = [(await silence(busy.tenantId)).id, (await silence(other.tenantId)).id] as string[];
    const rules = await stack.createRules(150, busy.tenantId, {
      ...EVERY_EVENT,
      name: 'Blocked too',
      channel_config_ids: [busy.channelId],
    });
    for (const { tenantId } of [busy, other]) await fire(tenantId);
    const replica = await stack.startReplica();
    await expecting(200, 'post', busy.tenantId, `/silences/${ids[0]!}:end`);
    await expecting(200, 'post', other.tenantId, `/silences/${ids[1]!}:end`);
    await becomes(other.tenantId, [FIRED]);
    await eventually(() => {
      const ofBusy = stack.notified.filter(({ tenantId }) => tenantId === busy.tenantId);
      expect(new Set(ofBusy.map(({ notificationId }) => notificationId)).size).toBe(rules.length + 1);
    });
    await replica.stop();
    const rows = mongo.connection.useDb(stack.database).collection('deliveries');
    const ofBusy = rows.find({ tenantId: busy.tenantId }, { projection: { status: 1 } });
    expect(new Set((await ofBusy.toArray()).map(({ status }) => status as string))).toEqual(new Set(['queued']));
  });
});

it('messages about an incident that was notified before the silence are sent during it', async () => {
  const { tenantId } = await watched({ type: 'pagerduty' });
  await fire(tenantId);
  await becomes(tenantId, [FIRED]);
  await silence(tenantId);
  const { id } = await alertOf(tenantId);
  expect(await alertOf(tenantId)).toMatchObject({ silenced_by: held() });
  for (const verb of ['acknowledge', 'resolve']) await expecting(200, 'post', tenantId, `/${id}:${verb}`);
  await becomes(tenantId, [FIRED, 'Blocked alert.acknowledged acknowledged', 'Blocked alert.resolved resolved']);
});

describe('the matchers of a silence', () => {
  const about = { agent: 'research', labels: { team: 'growth' } };
  it.each<[string, Body[], boolean]>([
    ['every alert without matchers', [], true],
    ['a severity', [{ field: 'severity', op: '=', value: 'high' }], true],
    ['not another severity', [{ field: 'severity', op: '=', value: 'low' }], false],
    ['what is not another severity', [{ field: 'severity', op: '!=', value: 'low' }], true],
    ['the agent of the rule', [{ field: 'agent_id', op: '=', value: about.agent }], true],
    ['the beginning of a label', [{ field: 'label:team', op: '=', value: 'gr*' }], true],
    ['not a label that the alert does not have', [{ field: 'label:env', op: '=', value: '*' }], false],
    ['a missing label with !=', [{ field: 'label:env', op: '!=', value: 'prod' }], true],
    [
      'only what fits all of them',
      [
        { field: 'label:team', op: '=', value: 'growth' },
        { field: 'agent_id', op: '!=', value: about.agent },
      ],
      false,
    ],
  ])('fit %s', async (_case, matchers, fits) => {
    const tenantId = newTenant();
    stack.peers.register(tenantId, about.agent);
    const { id } = await createChannel(tenantId);
    await createRule(tenantId, {
      ...{ scope_type: 'agent', scope_id: about.agent, channel_config_ids: [id] },
      rule_config: { window_seconds: 7200, threshold: 1, filters: { labels: about.labels } },
    });
    await silence(tenantId, { matchers });
    const { labels } = about;
    await stack.append(tenantId, event(clock.now, 'budget.blocked', { agent_id: about.agent, labels }));
    await stack.settled();
    const [alert] = await stack.alerts(tenantId);
    expect(alert).toMatchObject({ deliveries: [{ status: fits ? 'held' : 'queued' }] });
  });

  it('do not fit the agent of an event of a rule about all agents', async () => {
    const { tenantId } = await watched();
    await silence(tenantId, { matchers: [{ field: 'agent_id', op: '=', value: 'agent-1' }] });
    await fire(tenantId);
    await becomes(tenantId, [FIRED]);
  });
});

describe('a silence', () => {
  const list = async (tenantId: TenantId) => (await expecting(200, 'get', tenantId, '/silences')).items as Body[];
  const states = async (tenantId: TenantId) => (await list(tenantId)).map(({ state }) => state);

  it('is pending, active and expired, and can be ended before and made longer; each change is in the audit log', async () => {
    const tenantId = newTenant();
    const first = (await silence(tenantId, { starts_at: at(10) })) as { id: string };
    const second = (await silence(tenantId)) as { id: string };
    expect(await states(tenantId)).toEqual(['active', 'pending']);
    clock.now += 10 * MINUTE;
    expect(await states(tenantId)).toEqual(['active', 'active']);
    await expecting(200, 'patch', tenantId, `/silences/${first.id}`, { body: { ends_at: at(120) } });
    for (let again = 0; again < 2; again += 1) await expecting(200, 'post', tenantId, `/silences/${second.id}:end`);
    expect(await states(tenantId)).toEqual(['expired', 'active']);
    const late = await call('patch', tenantId, `/silences/${second.id}`, { body: { ends_at: at(120) } });
    expect(late.status).toBe(409);
    expect((await call('post', newTenant(), `/silences/${first.id}:end`)).status).toBe(404);

    const records = await stack.audited(tenantId, 4);
    const target = { type: 'silence', name: 'Load test' };
    expect(records.map(({ action, target: of }) => [action, of])).toEqual([
      ['silence.create', { ...target, id: first.id }],
      ['silence.create', { ...target, id: second.id }],
      ['silence.update', { ...target, id: first.id }],
      ['silence.end', { ...target, id: second.id }],
    ]);
    expect(records[0]!.changes).toContainEqual({ field: 'matchers', from: null, to: ['rule_name=Blocked*'] });
  });

  it('is 409 as the 51st that has not ended; of those that have ended, the last 50 are kept', async () => {
    const tenantId = newTenant();
    for (let made = 0; made < 50; made += 1) await silence(tenantId, { reason: `No. ${made}` });
    const body = { matchers: [], ends_at: at(30), reason: 'One more' };
    expect((await call('post', tenantId, '/silences', { body })).status).toBe(409);
    clock.now += 60 * MINUTE;
    for (let made = 0; made < 50; made += 1) await silence(tenantId, { reason: `Later ${made}` });
    clock.now += 60 * MINUTE;
    await silence(tenantId, { reason: 'The last' });
    const kept = await list(tenantId);
    expect(kept.length).toBe(100);
    expect([kept[0]!['reason'], kept.at(-1)!['reason']]).toEqual(['The last', 'No. 1']);
  });

  it.each<[string, () => Body, string]>([
    ['an end that is over', () => ({ ends_at: at(-1) }), 'ends_at'],
    ['an end before the start', () => ({ starts_at: at(40) }), 'ends_at'],
    ['an end after more than 31 days', () => ({ ends_at: at(31 * 1440 + 1) }), 'ends_at'],
    ['a start in more than 31 days', () => ({ starts_at: at(31 * 1440 + 1), ends_at: at(32 * 1440) }), 'starts_at'],
    ['an empty reason', () => ({ reason: ' ' }), 'reason'],
    [
      'a field that alerts do not have',
      () => ({ matchers: [{ field: 'color', op: '=', value: 'x' }] }),
      'matchers[0].field',
    ],
    [
      'an operator that does not exist',
      () => ({ matchers: [{ field: 'severity', op: '~', value: 'x' }] }),
      'matchers[0].op',
    ],
    ['eleven matchers', () => ({ matchers: Array(11).fill(BY_RULE_NAME[0]) }), 'matchers'],
  ])('is 400 with %s, and names the field', async (_case, changes, path) => {
    const body = { matchers: [], ends_at: at(30), reason: 'Load test', ...changes() };
    const answer = await call('post', newTenant(), '/silences', { body });
    const { details } = answer.body as { details: { path: string }[] };
    expect([answer.status, details.map((each) => each.path)]).toEqual([400, [path]]);
  });
});

describe('a maintenance window', () => {
  /** The clock of the stack starts on Saturday 21 November 2026. */
  const weekly = (tenantId: TenantId, changes: Body = {}) =>
    expecting(201, 'post', tenantId, '/maintenance-windows', {
      body: {
        ...{ name: 'Nightly batch', weekdays: ['saturday'], start: '22:00', end: '06:00', time_zone: 'Europe/Zurich' },
        ...{ matchers: BY_RULE_NAME, reason: 'Batch', ...changes },
      },
    }) as Promise<Body & { id: string }>;

  it('holds messages back over midnight in its time zone, and they are sent when it ends', async () => {
    const { tenantId } = await watched();
    const { id } = await weekly(tenantId);
    clock.now = Date.parse('2026-11-28T20:59:59Z');
    await fire(tenantId);
    await becomes(tenantId, [FIRED]);
    await expecting(200, 'post', tenantId, `/${(await alertOf(tenantId)).id}:resolve`);
    clock.now = Date.parse('2026-11-29T04:30:00Z');
    await fire(tenantId);
    const mutedBy = { kind: 'maintenance', id, reason: 'Batch', until: '2026-11-29T05:00:00.000Z' };
    expect(await alertOf(tenantId)).toMatchObject({ deliveries: [{ status: 'held', held: mutedBy }] });
    clock.now = Date.parse('2026-11-29T05:00:00Z');
    await eventually(async () => expect(await alertOf(tenantId)).toMatchObject({ deliveries: [{ status: 'queued' }] }));
  });

  it('holds nothing back once a change or its deletion ends it, and is in the audit log', async () => {
    const { tenantId } = await watched();
    const always = { start: '00:00', end: '00:00', weekdays: DAYS };
    const { id, created_at, created_by, ...made } = await weekly(tenantId, always);
    expect(made).toMatchObject({ ...always, time_zone: 'Europe/Zurich', matchers: BY_RULE_NAME });
    expect([created_at, created_by]).toEqual([at(0), { id: 'user_1', name: expect.any(String) }]);
    await fire(tenantId);
    expect(await alertOf(tenantId)).toMatchObject({ silenced_by: { id, until: null } });
    const body = { matchers: [{ field: 'severity', op: '=', value: 'low' }] };
    await expecting(200, 'patch', tenantId, `/maintenance-windows/${id}`, { body });
    await becomes(tenantId, [FIRED]);
    await expecting(204, 'delete', tenantId, `/maintenance-windows/${id}`);
    expect((await expecting(200, 'get', tenantId, '/maintenance-windows')).items).toEqual([]);
    expect((await call('delete', tenantId, `/maintenance-windows/${id}`)).status).toBe(404);
    const actions = (await stack.audited(tenantId, 5)).map(({ action }) => action);
    expect(actions.slice(2)).toEqual(['maintenance.create', 'maintenance.update', 'maintenance.delete']);
  });

  it('is 409 with the name of another one, and as the 21st', async () => {
    const tenantId = newTenant();
    for (let made = 0; made < 20; made += 1) await weekly(tenantId, { name: `Window ${made}` });
    const items = (await expecting(200, 'get', tenantId, '/maintenance-windows')).items as { id: string }[];
    const times = { weekdays: ['monday'], start: '22:00', end: '06:00', time_zone: 'UTC' };
    const body = { name: 'One more', ...times, matchers: [], reason: 'Batch' };
    const more = await call('post', tenantId, '/maintenance-windows', { body });
    const renamed = await call('patch', tenantId, `/maintenance-windows/${items[1]!.id}`, {
      body: { name: 'Window 0' },
    });
    expect([more.status, renamed.status]).toEqual([409, 409]);
  });

  it.each<[string, Body, string]>([
    ['no weekday', { weekdays: [] }, 'weekdays'],
    ['a weekday twice', { weekdays: ['monday', 'monday'] }, 'weekdays'],
    ['a time that no clock shows', { end: '24:00' }, 'end'],
    ['a zone that does not exist', { time_zone: 'Mars/Olympus' }, 'time_zone'],
  ])('is 400 with %s, and names the field', async (_case, changes, path) => {
    const window = { weekdays: ['monday'], start: '22:00', end: '06:00', time_zone: 'UTC', matchers: [] };
    const body = { name: 'Nightly', reason: 'Batch', ...window, ...changes };
    const answer = await call('post', newTenant(), '/maintenance-windows', { body });
    const { details } = answer.body as { details: { path: string }[] };
    expect([answer.status, details.map((each) => each.path)]).toEqual([400, [path]]);
  });
});

const DAYS = ['monday', 'tuesday', 'wednesday', 'thursday', 'friday', 'saturday', 'sunday'];
