import { afterAll, describe, expect, it } from '@jest/globals';
import { GATEWAY_EVENTS_TOPIC } from '@tollkeeper/contracts';
import type { EventLog } from '@tollkeeper/event-log';
import type { TenantId } from '@tollkeeper/kernel';
import { eventually, useBreakableMongo } from '@tollkeeper/testing';
import { event, newTenant, useAlerts } from './alerts.stack.ts';

/** A log that records the partition of `gateway.events` of each workspace. */
const partitions = new Map<string, number>();
function observed(log: EventLog): EventLog {
  return {
    ...log,
    consumer(options) {
      if (options.topic !== GATEWAY_EVENTS_TOPIC) return log.consumer(options);
      const { handler } = options;
      const handle: typeof handler.handle = (batch, stored) => {
        for (const { key } of batch.records) partitions.set(key, batch.partition);
        return handler.handle(batch, stored);
      };
      return log.consumer({ ...options, handler: { ...handler, handle } });
    },
  };
}

// This mongod has a smaller cache than that of the standalone.
const mongo = useBreakableMongo();
const stack = useAlerts(mongo, {}, observed);
afterAll(mongo.stop);
const { clock } = stack;

const SECOND = 1000;
const MEGABYTE = 1024 * 1024;
const eachSecond = { rule_config: { window_seconds: 1, threshold: 1 } };

/** Workspaces that share a partition. */
async function neighbours(count: number): Promise<TenantId[]> {
  const tenants = Array.from({ length: 10 * count }, newTenant);
  for (const tenantId of tenants) await stack.append(tenantId, event(clock.now));
  await stack.settled();
  const groups = [...Map.groupBy(tenants, (tenantId) => partitions.get(tenantId)).values()];
  return groups.find((group) => group.length >= count)!.slice(0, count);
}

/** What each transaction on the service's database since `from` has written, from the oplog. */
async function written(): Promise<{ documents: number; bytes: number }[]> {
  const oplog = mongo.connection.getClient().db('local').collection<{ o: { applyOps: object[] } }>('oplog.rs');
  const sizes = oplog.aggregate<{ documents: number; bytes: number }>([
    { $match: { 'o.applyOps.ns': { $regex: `^${stack.database}\\.` } } },
    { $project: { documents: { $size: '$o.applyOps' }, bytes: { $bsonSize: '$o' } } },
  ]);
  return sizes.toArray();
}

const longIds = (count: number, startsAt: number, stepMs: number) =>
  Array.from({ length: count }, (_, index) => {
    const made = event(startsAt + index * stepMs);
    return { ...made, id: made.id.padEnd(128, '_') };
  });

describe('a workspace whose many rules decide with every event', () => {
  it('holds up no alert of its neighbours, and has what it decides stored in transactions of bounded size', async () => {
    const [busy, ...others] = await neighbours(9);
    const ids = await stack.createRules(600, busy!, { ...eachSecond, cooldown_seconds: 2_592_000 });
    for (const tenantId of others) await stack.createRule(tenantId, eachSecond);
    const before = (await written()).length;

    for (const tenantId of others) {
      clock.now += 140 * SECOND;
      await stack.append(busy!, ...longIds(140, clock.now - 139 * SECOND, SECOND));
      await stack.append(tenantId, event(clock.now));
    }

    for (const tenantId of others) {
      await eventually(async () => expect(await stack.alerts(tenantId)).toHaveLength(1));
    }
    await stack.settled();
    expect(await stack.expecting(200, 'get', busy!, '?limit=1')).toMatchObject({ total: ids.length });
    const made = (await written()).slice(before);
    expect(Math.max(...made.map(({ documents }) => documents))).toBeLessThan(5000);
    expect(Math.max(...made.map(({ bytes }) => bytes))).toBeLessThan(8 * MEGABYTE);
    // The rules make 672,600 decisions.
    expect(made.reduce((sum, { documents }) => sum + documents, 0)).toBeLessThan(100_000);
  });

  it('makes 60 alerts a rule of a minute of events at most, and says what became of the rest', async () => {
    const [busy, other] = await neighbours(2);
    const ids = await stack.createRules(100, busy!, {
      rule_kind: 'first_occurrence',
      rule_config: { window_seconds: 1 },
    });
    await stack.createRule(other!, eachSecond);
    clock.now = Math.ceil(clock.now / 60_000) * 60_000 + 30_000;

    // Newest first, so that each event is the first of its window.
    const events = longIds(280, clock.now, -1);
    await stack.append(busy!, ...events);
    await stack.append(other!, event(clock.now));

    await eventually(async () => expect(await stack.alerts(other!)).toHaveLength(1));
    const { total } = await stack.expecting(200, 'get', busy!, '?limit=1');
    expect(total).toBe(60 * ids.length);
    for (const id of [ids.at(0)!, ids.at(-1)!]) {
      const [last, ...fired] = await stack.evaluations(busy!, id);
      expect(last).toMatchObject({
        outcome: 'suppressed',
        reason: 'rate_limited',
        count: 220,
        event_id: events.at(-1)!.id,
      });
      expect(fired).toHaveLength(60);
      for (const each of fired) expect(each).toMatchObject({ outcome: 'fired', count: 1 });
    }
  });
});

describe('an event whose decisions MongoDB refuses', () => {
  it('is set aside with the reason, and what stands before and behind it fires', async () => {
    const [tenantId, other] = await neighbours(2);
    await stack.createRule(tenantId!, eachSecond);
    await stack.createRule(other!, eachSecond);
    const alerts = mongo.connection.getClient().db(stack.database);
    const events = longIds(9, clock.now - 20 * SECOND, 2 * SECOND);
    const refused = events[4]!.id;
    await alerts.command({ collMod: 'alerts', validator: { sampleEventIds: { $ne: refused } } });

    await stack.append(tenantId!, ...events);
    await stack.append(other!, event(clock.now));

    await eventually(async () => expect(await stack.alerts(other!)).toHaveLength(1));
    const fired = (await stack.alerts(tenantId!)).map(({ sample_event_ids: ids }) => (ids as string[])[0]);
    expect(fired.toReversed()).toEqual(events.map(({ id }) => id).filter((id) => id !== refused));
    const dead = stack.logs.lines().filter(({ msg }) => msg === 'record set aside in gateway.events.dead');
    expect(dead).toMatchObject([
      { reason: expect.stringContaining('MongoDB refused to store an evaluation: Document failed') },
    ]);
    await alerts.command({ collMod: 'alerts', validator: {} });
  });
});
