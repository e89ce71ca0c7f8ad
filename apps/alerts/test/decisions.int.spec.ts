import { describe, expect, it } from '@jest/globals';
import type { TenantId } from '@tollkeeper/kernel';
import { eventually, useMongo } from '@tollkeeper/testing';
import { type Body, event, newTenant, useAlerts } from './alerts.stack.ts';

const mongo = useMongo();
const stack = useAlerts(mongo);
const { clock } = stack;

const SECOND = 1000;

describe('a rule that decides often', () => {
  const rule = (config: Body, changes: Body = {}): Body => ({ rule_config: config, ...changes });
  /** Sends events with times this many seconds from now, one after the other. */
  const report = async (tenantId: TenantId, ...seconds: number[]) => {
    const events = seconds.map((second) => event(clock.now + second * SECOND));
    await stack.append(tenantId, ...events);
    await stack.settled();
    return events;
  };

  it('makes 60 alerts of a minute of events at most, across restarts and revisions, and counts the rest', async () => {
    const tenantId = newTenant();
    const first = rule({ window_seconds: 1 }, { rule_kind: 'first_occurrence' });
    const { id } = await stack.createRule(tenantId, first);
    const minute = Math.floor(clock.now / 60_000) * 60 - clock.now / SECOND;
    // Newest first, so that each event is the first of its window.
    const seconds = (from: number) => Array.from({ length: 25 }, (_, index) => minute + (from - index) / SECOND);
    await report(tenantId, ...seconds(-1));
    await stack.restart();
    await report(tenantId, ...seconds(-31));
    await stack.expecting(200, 'patch', tenantId, `/rules/${id}`, { body: { enabled: false } });
    clock.now += 1;
    await stack.expecting(200, 'patch', tenantId, `/rules/${id}`, { body: { enabled: true } });
    const last = await report(tenantId, ...seconds(-61));
    const [limited, ...fired] = await stack.evaluations(tenantId, id);
    expect(limited).toMatchObject({
      outcome: 'suppressed',
      reason: 'rate_limited',
      count: 15,
      event_id: last.at(-1)!.id,
    });
    expect(fired.map(({ outcome }) => outcome)).toEqual(Array.from({ length: 60 }, () => 'fired'));
    await report(tenantId, minute + 5);
    expect((await stack.evaluations(tenantId, id))[0]).toMatchObject({ outcome: 'fired' });
  });

  it('reports what it suppresses in a minute for one reason as one decision, about the last event, with its count', async () => {
    const tenantId = newTenant();
    const { id } = await stack.createRule(
      tenantId,
      rule({ window_seconds: 1, threshold: 1 }, { cooldown_seconds: 600 }),
    );
    const minute = Math.floor(clock.now / 60_000) * 60 - clock.now / SECOND;
    const [, , second] = await report(tenantId, minute - 60, minute - 55, minute - 50);
    const [last] = await report(tenantId, minute);
    expect(await stack.evaluations(tenantId, id)).toMatchObject([
      { outcome: 'suppressed', reason: 'cooldown', count: 1, event_id: last!.id },
      { outcome: 'suppressed', reason: 'cooldown', count: 2, event_id: second!.id },
      { outcome: 'fired', count: 1 },
    ]);
  });
});

describe('the lag of the evaluation', () => {
  it('shows how long events wait while what they decided can not be stored, and no wait when it is', async () => {
    clock.now = Math.max(clock.now, Date.now());
    const tenantId = newTenant();
    const rule = await stack.createRule(tenantId, { rule_config: { window_seconds: 1, threshold: 1 } });
    await stack.append(tenantId, event(clock.now - 10 * SECOND));
    await stack.settled();
    const longest = async () =>
      Math.max(...(await stack.metric('alerts_evaluation_lag_seconds')).map(({ value }) => value));
    await eventually(async () => expect(await longest()).toBe(0));

    const other = await mongo.connection.startSession();
    other.startTransaction();
    const windows = mongo.connection.getClient().db(stack.database).collection<{ _id: string }>('windows');
    await windows.updateOne({ _id: rule.id }, { $set: { held: true } }, { session: other });
    await stack.append(tenantId, event(clock.now));
    clock.now += 1200 * SECOND;
    await eventually(async () => expect(await longest()).toBeGreaterThan(1000));
    clock.now += 1200 * SECOND;
    expect(await longest()).toBeGreaterThan(2000);

    await other.abortTransaction();
    await other.endSession();
    await eventually(async () => expect(await longest()).toBe(0));
    expect(await stack.alerts(tenantId)).toHaveLength(2);
  });
});
