import { afterAll, describe, expect, it } from '@jest/globals';
import type { GatewayEvent } from '@tollkeeper/contracts';
import type { TenantId } from '@tollkeeper/kernel';
import { eventually, useBreakableMongo } from '@tollkeeper/testing';
import { toAlert } from '../src/domain/alert.ts';
import { toCountableEvent } from '../src/domain/event.ts';
import type { Rule } from '../src/domain/rule.ts';
import { event, newTenant, useAlerts } from './alerts.stack.ts';

// This mongod has a smaller cache than that of the standalone.
const mongo = useBreakableMongo();
const stack = useAlerts(mongo);
afterAll(mongo.stop);
const { clock } = stack;

const RULES = 1000;
const CHANNELS = 5;

interface StoredRule extends Omit<Rule, 'id'> {
  _id: string;
}
const collection = <T extends object = { _id: string; tenantId: string }>(name: string) =>
  mongo.connection.useDb(stack.database).collection<T>(name);
const count = (name: string, tenantId: TenantId) => collection(name).countDocuments({ tenantId });

/** A workspace with the maximum number of rules and channels, in which any event fires all rules. */
async function largestWorkspace(): Promise<TenantId> {
  const tenantId = newTenant();
  const channels: string[] = [];
  for (let n = 0; n < CHANNELS; n += 1) channels.push((await stack.createChannel(tenantId)).id);
  const changes = { rule_config: { window_seconds: 1, threshold: 1 }, channel_config_ids: channels };
  await stack.createRules(RULES, tenantId, changes);
  return tenantId;
}

/** The id of the alert that the event fires for the rule. */
function alertIdOf({ _id: id, ...rule }: StoredRule, tenantId: TenantId, gatewayEvent: GatewayEvent): string {
  const receivedAt = gatewayEvent.time;
  const alert = toAlert({
    rule: { ...rule, id, routes: [], condition: { kind: 'event_count_gte', threshold: 1 } },
    event: toCountableEvent({ tenantId, event: gatewayEvent, receivedAt }),
    evidence: {
      windowStart: 0,
      windowEnd: 0,
      eventCount: 1,
      settledMicros: null,
      sampleEventIds: [],
      firstEventAt: 0,
      lastEventAt: 0,
    },
    ...{ outcome: 'fired', reason: 'condition_became_true', number: 1, count: 1, metUntil: 0, cooldownUntil: null },
  });
  return alert.id;
}

/** Waits until the event is evaluated, and expects each alert and notification exactly once. */
async function expectEachOnce(tenantId: TenantId): Promise<void> {
  await eventually(async () => expect(await count('decisions', tenantId)).toBe(RULES));
  await stack.settled();
  expect(await count('alerts', tenantId)).toBe(RULES);
  expect(await count('deliveries', tenantId)).toBe(RULES * CHANNELS);
  const notified = () => stack.notified.filter((sent) => sent.tenantId === tenantId);
  await eventually(async () => {
    expect(await collection('outbox').countDocuments()).toBe(0);
    expect(new Set(notified().map(({ notificationId }) => notificationId)).size).toBe(RULES * CHANNELS);
  });
  expect(new Set(notified().map(({ alert }) => alert.id)).size).toBe(RULES);
  const setAside = stack.logs.lines().filter(({ msg }) => msg === 'record set aside in gateway.events.dead');
  expect(setAside).toEqual([]);
}

describe('an event with which 1,000 rules fire that notify 5 channels each', () => {
  it('makes each alert once and notifies each channel once, on a small cache', async () => {
    const tenantId = await largestWorkspace();
    await stack.append(tenantId, event(clock.now));
    await expectEachOnce(tenantId);
    expect(stack.notified.filter((sent) => sent.tenantId === tenantId)).toHaveLength(RULES * CHANNELS);
  });

  it('does so though MongoDB dies when some of it is stored', async () => {
    const tenantId = await largestWorkspace();
    const fired = event(clock.now);
    const rules = await collection<StoredRule>('rules').find({ tenantId }).sort({ createdAt: 1, _id: 1 }).toArray();
    const contended = alertIdOf(rules[RULES / 2]!, tenantId, fired);
    const session = await mongo.connection.startSession();
    session.startTransaction();
    await collection('alerts').insertOne({ _id: contended, tenantId: 'nobody' }, { session });

    await stack.append(tenantId, fired);
    await eventually(async () => expect(await count('alerts', tenantId)).toBeGreaterThan(0));
    await mongo.kill();
    await mongo.restart();
    await session.endSession().catch(() => undefined);
    expect(await count('alerts', tenantId)).toBeLessThan(RULES);
    await expectEachOnce(tenantId);
  });
});
