import { randomUUID } from 'node:crypto';
import { describe, expect, it } from '@jest/globals';
import { eventually, useMongo } from '@tollkeeper/testing';
import { mongo as driver } from 'mongoose';
import { type Body, event, newTenant, useAlerts } from './alerts.stack.ts';

const { BSON } = driver;

const mongo = useMongo();
const stack = useAlerts(mongo);
const { clock } = stack;
const database = () => mongo.connection.getClient().db(stack.database);

/** The writes of each transaction on matching collections of the service's database, from the oplog. */
async function transactions(collections = ''): Promise<Write[][]> {
  const oplog = mongo.connection.getClient().db('local').collection<{ o: { applyOps: Write[] } }>('oplog.rs');
  const found = await oplog.find({ 'o.applyOps.ns': { $regex: `^${stack.database}\\.${collections}` } }).toArray();
  return found.map(({ o }) => o.applyOps);
}

interface Write {
  ns: string;
  o: { tenantId?: string };
}

const SECOND = 1000;
/** A rule that fires with each event that comes a second after the last one. */
const eachSecond = { rule_config: { window_seconds: 1, threshold: 1 } };

describe('what is decided with a batch of events', () => {
  it('is stored in transactions of bounded size, and sent in the order of its decision', async () => {
    const tenantId = newTenant();
    const channels: string[] = [];
    for (let n = 0; n < 4; n += 1) channels.push((await stack.createChannel(tenantId)).id);
    const rules = 10;
    for (let n = 0; n < rules; n += 1)
      await stack.createRule(tenantId, { ...eachSecond, channel_config_ids: channels });

    const times = Array.from({ length: 100 }, (_, index) => clock.now - (100 - index) * SECOND);
    await stack.append(tenantId, ...times.map((time) => event(time)));
    await stack.settled();
    const sizes = (await transactions()).map(
      (writes) => writes.filter(({ ns, o }) => ns.endsWith('.alerts') && o.tenantId === tenantId).length,
    );
    expect(sizes.reduce((sum, size) => sum + size)).toBe(rules * times.length);
    expect(Math.max(...sizes)).toBeLessThanOrEqual(2000 / (1 + 2 * channels.length) + rules);

    const sent = () =>
      stack.notified.filter(({ channelId, type }) => channelId === channels[0] && type === 'alert.fired');
    await eventually(() => expect(sent()).toHaveLength(rules * times.length));
    const triggered = sent().map(({ alert }) => alert.triggered_at);
    expect(triggered).toEqual(triggered.toSorted());
  });
});

describe('history', () => {
  it('is kept by the database as long as is configured: alerts from their end on, deliveries from the start', async () => {
    const tenantId = newTenant();
    const { id } = await stack.createChannel(tenantId);
    await stack.createRule(tenantId, { ...eachSecond, channel_config_ids: [id] });
    const alerts = database().collection<{ resolvedAt: Date | null; status: string }>('alerts');
    await stack.append(tenantId, event(clock.now - SECOND));
    const resolved = { tenantId, status: 'resolved', resolvedAt: { $type: 'date' as const } };
    await eventually(async () => expect(await alerts.countDocuments(resolved)).toBe(1));
    await stack.append(tenantId, event(clock.now));
    await stack.settled();
    expect(await alerts.countDocuments({ tenantId, status: 'firing', resolvedAt: null })).toBe(1);
    const deliveries = database().collection('deliveries');
    expect(await deliveries.countDocuments({ tenantId, queuedAt: { $type: 'date' } })).toBe(3);

    const lifetimes = async (name: string) =>
      (await database().collection(name).indexes()).flatMap(({ key, expireAfterSeconds }) =>
        expireAfterSeconds === undefined ? [] : [{ key, expireAfterSeconds }],
      );
    const expireAfterSeconds = 400 * 86_400;
    expect(await lifetimes('alerts')).toEqual([{ key: { resolvedAt: 1 }, expireAfterSeconds }]);
    expect(await lifetimes('deliveries')).toEqual([{ key: { queuedAt: 1 }, expireAfterSeconds }]);
    await stack.restart({ HISTORY_RETENTION_SECONDS: '2592000' });
    expect(await lifetimes('alerts')).toMatchObject([{ expireAfterSeconds: 2_592_000 }]);
    expect(await lifetimes('deliveries')).toMatchObject([{ expireAfterSeconds: 2_592_000 }]);
  });
});

describe('a window of many events', () => {
  const THRESHOLD = 1000;
  const inAnHour = { rule_config: { window_seconds: 3600, threshold: THRESHOLD } };
  /** This many events, a millisecond apart, ending at `now`. */
  const eventsUntil = (now: number, count: number) =>
    Array.from({ length: count }, (_, index) => event(now - count + 1 + index));

  const bytesOf = (writes: Write[]) =>
    writes
      .filter(({ ns }) => /\.window(s|_pieces)$/.test(ns))
      .reduce((sum, { o }) => sum + BSON.calculateObjectSize(o), 0);

  it('costs a save what is new, and is whole again after a restart', async () => {
    const tenantId = newTenant();
    await stack.createRule(tenantId, inAnHour);
    await stack.append(tenantId, ...eventsUntil(clock.now - 1000, 900));
    await stack.settled();
    await stack.append(tenantId, ...eventsUntil(clock.now - 500, 50));
    await stack.settled();
    expect(bytesOf((await transactions('window')).at(-1)!)).toBeLessThan(3000);

    await stack.restart();
    await stack.append(tenantId, ...eventsUntil(clock.now - 100, 49));
    await stack.settled();
    expect(await stack.alerts(tenantId)).toEqual([]);
    await stack.append(tenantId, event(clock.now));
    await stack.settled();
    expect(await stack.alerts(tenantId)).toMatchObject([{ event_count: THRESHOLD }]);
  });

  it('costs little more than its entries while it grows, is whole after a restart, and gone with its rule', async () => {
    const tenantId = newTenant();
    const [saves, eventsPerSave] = [15, 200];
    const threshold = saves * eventsPerSave + 1;
    const rule = await stack.createRule(tenantId, {
      rule_kind: 'spend_gte',
      rule_config: { window_seconds: 3600, threshold_micros: threshold },
    });
    const settle = async (count: number) => {
      const settled = Array.from({ length: count }, () =>
        event(clock.now, 'spend.settled', { settlement_id: randomUUID(), amount_micros: 1 }),
      );
      await stack.append(tenantId, ...settled);
      await stack.settled();
    };
    const before = (await transactions('window')).length;
    for (let n = 0; n < saves; n += 1) await settle(eventsPerSave);
    const written = (await transactions('window')).slice(before).map(bytesOf);
    expect(written.reduce((sum, bytes) => sum + bytes)).toBeLessThan(1.5 * 32 * threshold + 2000 * written.length);

    await stack.restart();
    expect(await stack.alerts(tenantId)).toEqual([]);
    await settle(1);
    expect(await stack.alerts(tenantId)).toMatchObject([{ event_count: threshold }]);
    const pieces = database().collection('window_pieces');
    expect(await pieces.countDocuments({ tenantId })).toBeGreaterThan(3);
    await stack.expecting(204, 'delete', tenantId, `/rules/${rule.id}`);
    expect(await pieces.countDocuments({ tenantId })).toBe(0);
  });
});

describe('a deleted rule', () => {
  it('leaves nothing behind but its alerts, though what was evaluated of it was stored after its deletion', async () => {
    const tenantId = newTenant();
    const { id } = await stack.createRule(tenantId, eachSecond);
    await stack.append(tenantId, event(clock.now));
    await stack.settled();
    const kept = [
      { collection: database().collection<{ _id: string }>('windows'), ofRule: { _id: id } },
      { collection: database().collection<{ _id: string }>('decisions'), ofRule: { ruleId: id } },
    ];
    const stored = await Promise.all(kept.map(({ collection, ofRule }) => collection.findOne(ofRule)));
    await stack.expecting(204, 'delete', tenantId, `/rules/${id}`);
    for (const [index, { collection }] of kept.entries()) await collection.insertOne(stored[index]!);

    await stack.restart();
    await stack.append(tenantId, event(clock.now));
    await stack.settled();
    for (const { collection, ofRule } of kept) expect(await collection.countDocuments(ofRule)).toBe(0);
    expect(await stack.alerts(tenantId)).toHaveLength(1);
  });
});

describe('reading rules', () => {
  it('takes the times of their last fires from an index, and reads no window', async () => {
    const tenantId = newTenant();
    const { id } = await stack.createRule(tenantId, eachSecond);
    await stack.append(tenantId, event(clock.now));
    await stack.settled();
    await database().command({ profile: 2 });
    const rules = (await stack.expecting(200, 'get', tenantId, '/rules')).items as Body[];
    await stack.expecting(200, 'patch', tenantId, `/rules/${id}`, { body: { name: 'Renamed' } });
    await database().command({ profile: 0 });
    expect(rules).toMatchObject([{ last_fired_at: new Date(clock.now).toISOString() }]);

    const profile = database().collection<{ docsExamined: number; keysExamined: number }>('system.profile');
    const finds = await profile.find({ 'command.find': 'windows', 'command.projection.lastFiredAt': 1 }).toArray();
    await profile.drop();
    expect(finds.length).toBeGreaterThanOrEqual(2);
    for (const { docsExamined, keysExamined } of finds) {
      expect({ docsExamined, keysExamined }).toEqual({ docsExamined: 0, keysExamined: expect.any(Number) });
      expect(keysExamined).toBeGreaterThan(0);
    }
  });
});

describe('the queries of the service', () => {
  /** Always small: the queues of a second, and a document for each workspace. */
  const READ_WHOLE = ['outbox', 'audit_outbox', 'rule_changes'];

  it('never read a whole collection that grows', async () => {
    await database().command({ profile: 2 });
    const tenantId = newTenant();
    const channel = await stack.createChannel(tenantId);
    const rule = await stack.createRule(tenantId, { ...eachSecond, channel_config_ids: [channel.id] });
    await stack.append(tenantId, event(clock.now - SECOND), event(clock.now));
    await stack.settled();
    const [alert] = await stack.alerts(tenantId);
    for (const filter of ['', 'status=firing', 'severity=high', `rule_id=${rule.id}`, 'from=2026-11-21T00:00:00Z']) {
      await stack.expecting(200, 'get', tenantId, `?${filter}`);
    }
    await stack.expecting(200, 'get', tenantId, '/system');
    await stack.expecting(200, 'get', tenantId, '/rules');
    await stack.expecting(200, 'get', tenantId, `/rules/${rule.id}/evaluations`);
    await stack.changeChannel(tenantId, channel.id, { enabled: false });
    await stack.expecting(200, 'post', tenantId, `/${alert!.id}:acknowledge`);
    await stack.expecting(200, 'post', tenantId, `/${alert!.id}:resolve`);
    await stack.metric('outbox_depth');
    await stack.metric('alerts_oldest_undelivered_age_seconds');
    await stack.deleteChannel(tenantId, channel.id);
    await eventually(async () => {
      const { channel_config_ids: left } = await stack.expecting(200, 'get', tenantId, `/rules/${rule.id}`);
      expect(left).toEqual([]);
    });
    clock.now += SECOND;
    await eventually(async () => {
      for (const { status } of await stack.alerts(tenantId)) expect(status).toBe('resolved');
    });
    await stack.restart();
    await database().command({ profile: 0 });

    const profile = database().collection<{ ns: string; planSummary?: string }>('system.profile');
    expect(await profile.countDocuments({ planSummary: /IXSCAN/ })).toBeGreaterThan(20);
    const whole = await profile.find({ planSummary: /COLLSCAN/ }).toArray();
    const read = new Set(whole.map(({ ns }) => ns.slice(stack.database.length + 1)));
    expect([...read].filter((name) => !READ_WHOLE.includes(name) && name !== 'system.profile')).toEqual([]);
  });
});
