import { afterAll, describe, expect, it } from '@jest/globals';
import { type GatewayEvent, GATEWAY_EVENTS_TOPIC } from '@tollkeeper/contracts';
import { useBreakableMongo } from '@tollkeeper/testing';
import { encode, newTenant, settled, useDashboard } from './dashboard.stack.ts';
import { storedEvents } from './stored.events.ts';

const NOW = Date.parse('2026-11-21T12:00:00.000Z');
const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;

/** The cache size of the standalone, whose transactions are refused when they are too large for it. */
const mongo = useBreakableMongo({ cacheSizeMb: 96 });
const dashboard = useDashboard(mongo);
afterAll(() => mongo.stop());

/** One micro each, spread over `days` and all of the agents and models. */
function spread(count: number, { days, agents, models = 1 }: { days: number; agents: number; models?: number }) {
  return Array.from({ length: count }, (_, index): GatewayEvent => {
    const time = new Date(NOW - ((index * 7919) % count) * ((days * DAY_MS) / count)).toISOString();
    const names = { agent_id: `agent-${index % agents}`, model: `model-${Math.floor(index / agents) % models}` };
    return settled(time, 1, { ...names, run_id: `run-${index}` });
  });
}

/** Puts the records of all workspaces into one partition, by one key. */
const together = (records: ReturnType<typeof encode>[]) =>
  dashboard.appendValues(records.map((record) => ({ ...record, key: 'one partition' })));

async function spentBy(tenantId: ReturnType<typeof newTenant>): Promise<number> {
  return (await dashboard.get(tenantId, '/spend?range=3m')).body.metrics.total_micros;
}

describe('on the cache of the standalone', () => {
  it.each([
    ['1,000 settlements over 30 days of 20 agents', () => spread(1_000, { days: 30, agents: 20 })],
    ['a trace of 2,000 rows, one every 45 minutes, of 40 agents', () => spread(2_000, { days: 62, agents: 40 })],
    ['3,000 of 100 agents, 90 days and 4 models', () => spread(3_000, { days: 90, agents: 100, models: 4 })],
  ])('one workspace reports %s, and its neighbours in the partition are counted with it', async (_what, events) => {
    const [sender, neighbour] = [newTenant(), newTenant()];
    const reported = events();
    await together([...reported.map((event) => encode(sender, event)), encode(neighbour, settled(at(NOW), 7))]);
    await dashboard.caughtUp();
    expect(await spentBy(sender)).toBe(reported.length);
    expect(await spentBy(neighbour)).toBe(7);
    expect(await dashboard.deadLetters()).toEqual([]);
  });

  it('1,000 workspaces in one batch are all counted', async () => {
    const tenants = Array.from({ length: 1_000 }, () => newTenant());
    await together(
      tenants.map((tenantId, index) => encode(tenantId, settled(at(NOW - index * HOUR_MS), 3, { agent_id: 'a' }))),
    );
    await dashboard.caughtUp();
    expect(await spentBy(tenants[0]!)).toBe(3);
    expect(await spentBy(tenants[999]!)).toBe(3);
    expect(await storedEvents(mongo.connection.useDb(dashboard.database))).toBe(7_003);
  });
});

describe('a record that can never be applied', () => {
  it('goes to the dead topic with its reason, and those around it in the batch are counted', async () => {
    const [sender, neighbour] = [newTenant(), newTenant()];
    const database = mongo.connection.useDb(dashboard.database);
    await database.db!.command({ collMod: 'chunks', validator: { agents: { $ne: 'forbidden' } } });
    const good = Array.from({ length: 20 }, () => encode(neighbour, settled(at(NOW), 1)));
    const bad = encode(sender, settled(at(NOW), 1, { agent_id: 'forbidden' }));
    await together([...good.slice(0, 13), bad, ...good.slice(13)]);
    await dashboard.caughtUp();
    expect(await spentBy(neighbour)).toBe(20);
    expect(await spentBy(sender)).toBe(0);
    expect(await dashboard.deadLetters()).toEqual([
      expect.objectContaining({
        value: bad.value,
        headers: expect.objectContaining({
          'dead-topic': GATEWAY_EVENTS_TOPIC,
          'dead-reason': expect.stringContaining('Document failed validation'),
        }),
      }),
    ]);
  });
});

describe('an event that may be in a chunk that is damaged', () => {
  it('goes to the dead topic with a reason that names the chunk, and those around it are counted', async () => {
    const [sender, neighbour] = [newTenant(), newTenant()];
    const counted = settled(at(NOW), 1);
    await dashboard.report(sender, [counted]);
    const stored = mongo.connection.useDb(dashboard.database).collection('chunks');
    const { _id } = (await stored.findOne({ tenantId: sender }))!;
    await stored.updateOne({ _id }, { $set: { events: Buffer.from('damaged') } });
    const others = Array.from({ length: 6 }, () => encode(neighbour, settled(at(NOW), 1)));
    const own = encode(sender, settled(at(NOW), 1, { run_id: 'run-2' }));
    await together([...others.slice(0, 3), encode(sender, counted), own, ...others.slice(3)]);
    await dashboard.caughtUp();
    expect(await spentBy(neighbour)).toBe(6);
    expect(await storedEvents(mongo.connection.useDb(dashboard.database), neighbour)).toBe(6);
    await stored.deleteOne({ _id });
    // Roll-ups still count the event of the damaged chunk, and its repeat is not counted.
    expect(await spentBy(sender)).toBe(2);
    const reasons = (await dashboard.deadLetters()).map(({ headers }) => headers?.['dead-reason']);
    expect(reasons).toHaveLength(2);
    expect(reasons[1]).toContain(`The document ${_id.toHexString()} of chunks can't be read: `);
  });
});

function at(time: number): string {
  return new Date(time).toISOString();
}
