import { afterAll, describe, expect, it } from '@jest/globals';
import { eventually, useBreakableMongo, useMongo } from '@tollkeeper/testing';
import { type Answer, LIMITS, RESERVATIONS, useEnforcer } from './enforcer.stack.ts';

const SECOND = 1000;
const DAY = 86_400 * SECOND;

const mongo = useBreakableMongo();
const stack = useEnforcer(mongo, { logMongo: useMongo() });
const { budgets, clock, identity, keys, limitedTo } = stack;
type Workspace = ReturnType<typeof stack.newWorkspace>;
afterAll(mongo.stop);

function expectUnavailable({ status, body, retryAfter }: Answer): void {
  expect([status, body.code]).toEqual([503, 'service_unavailable']);
  expect(Number(retryAfter)).toBeGreaterThan(0);
}

const REQUEST = { request_id: 'req-while-away', amount_micros: 10 };

/** Makes every call of a gateway once. */
function callAll(workspace: Workspace, settled: string, released: string): Promise<Answer[]> {
  const once = { once: true };
  return Promise.all([
    workspace.reserve(REQUEST, once),
    workspace.call('get', `${RESERVATIONS}/${settled}`, once),
    workspace.settle(settled, 4, 'stl-1', once),
    workspace.release(released, once),
    workspace.extend(released, 3600, once),
  ]);
}

describe('without MongoDB', () => {
  it.each([
    ['killed', () => mongo.kill(), () => mongo.restart()],
    ['hung', () => mongo.hang(), () => mongo.goOn()],
  ] as const)('%s, all calls are 503 with Retry-After, and work again automatically', async (_how, take, giveBack) => {
    const workspace = limitedTo(100);
    const [settled, released] = [await workspace.granted(50), await workspace.granted(30)];
    const unloaded = limitedTo(100);
    await take();
    for (const answer of await callAll(workspace, settled.id, released.id)) expectUnavailable(answer);
    // This workspace has nothing in memory.
    for (const answer of await callAll(unloaded, 'rsv_none', 'rsv_none')) expectUnavailable(answer);
    expectUnavailable(await workspace.call('get', LIMITS, { role: 'member', once: true }));
    await giveBack();
    await eventually(() => stack.ready());

    // Calls in progress may have taken effect. Repeated, each takes effect exactly once.
    await workspace.granted(REQUEST);
    expect((await workspace.settle(settled.id, 4, 'stl-1')).status).toBe(200);
    expect((await workspace.release(released.id)).status).toBe(200);
    await stack.posted();
    expect(await workspace.limit()).toMatchObject({ spent_micros: 4, held_micros: 10, open_reservations: 1 });
    expect((await workspace.reserve(87)).body.decision).toBe('denied');
    expect((await workspace.reserve(86)).status).toBe(201);
    await unloaded.granted(REQUEST);
    expect((await unloaded.reserve(91)).body.decision).toBe('denied');
  });
});

describe('without budgets', () => {
  it('the limits that are known stay in force, and those that are not are 503 until it answers again', async () => {
    const workspace = limitedTo(100);
    await workspace.granted(60);
    budgets.state.down = true;
    clock.now += 60 * SECOND;
    expect((await workspace.reserve(41)).body.decision).toBe('denied');
    expect((await workspace.reserve(40)).status).toBe(201);
    expect(await stack.counted('enforcer_stale_limits_total')).toBeGreaterThan(0);
    const unknown = limitedTo(100);
    expectUnavailable(await unknown.reserve(1, { once: true }));
    expectUnavailable(await workspace.reserve({ agent_id: 'never-seen', amount_micros: 1 }, { once: true }));
    budgets.state.down = false;
    expect((await workspace.reserve({ agent_id: 'never-seen', amount_micros: 1 })).body.decision).toBe('denied');
    expect((await unknown.reserve(1)).status).toBe(201);
  });

  it('people wait for the limits until it answers again, while gateways get 503', async () => {
    budgets.state.down = true;
    const unknown = limitedTo(100);
    const reading = unknown.call('get', LIMITS, { role: 'member', once: true });
    expectUnavailable(await unknown.reserve(1, { once: true }));
    budgets.state.down = false;
    clock.now += 2 * SECOND;
    expect((await reading).status).toBe(200);
  });

  it('holds are settled and released anyway', async () => {
    const workspace = limitedTo(100);
    const [first, second] = [await workspace.granted(50), await workspace.granted(50)];
    budgets.state.down = true;
    clock.now += 60 * SECOND;
    expect((await workspace.settle(first.id, 30)).status).toBe(200);
    expect((await workspace.release(second.id)).status).toBe(200);
    budgets.state.down = false;
    clock.now += 2 * SECOND;
    expect(await workspace.limit()).toMatchObject({ spent_micros: 30, held_micros: 0 });
  });
});

describe('without identity', () => {
  it('a day begins in the zone of the one before, and for a new workspace not at all', async () => {
    const workspace = limitedTo(100);
    identity.setTimezone(workspace.tenantId, 'Asia/Tokyo');
    await workspace.granted(100);
    identity.state.down = true;
    clock.now += DAY;
    expect((await workspace.reserve(100)).status).toBe(201);
    expect((await workspace.limits()).day).toMatchObject({ timezone: 'Asia/Tokyo' });
    const fresh = limitedTo(100);
    expectUnavailable(await fresh.reserve(1, { once: true }));
    identity.state.down = false;
    expect((await fresh.reserve(1)).status).toBe(201);
  });
});

describe('without keys', () => {
  it('a key that was checked in the last 5 s works, and after that all are 503', async () => {
    const workspace = limitedTo(100);
    const other = limitedTo(100);
    await workspace.granted(10);
    await keys.stop();
    clock.now += 5 * SECOND;
    expect((await workspace.reserve(10)).status).toBe(201);
    expectUnavailable(await other.reserve(1, { once: true }));
    clock.now += 1;
    expectUnavailable(await workspace.reserve(10, { once: true }));
    await keys.start();
    expect((await workspace.reserve(10)).status).toBe(201);
  });

  it('a key that is revoked works for 5 s at most', async () => {
    const workspace = limitedTo(100);
    const { id } = await workspace.granted(10);
    keys.revoke(workspace.sha256);
    clock.now += 5 * SECOND + 1;
    expect((await workspace.reserve(10)).status).toBe(401);
    const rpc = await workspace.rpc('Settle', { reservationId: id, settlementId: 'stl-1', amountMicros: 1 });
    expect(rpc).toMatchObject({ status: 'UNAUTHENTICATED' });
    expect(await workspace.limit()).toMatchObject({ spent_micros: 0, held_micros: 10 });
  });
});

it('a gateway that dies holds nothing past its time, even without another request', async () => {
  const open = () => stack.counted('enforcer_open_reservations');
  const workspace = limitedTo(100);
  const before = await open();
  await workspace.granted({ amount_micros: 100, ttl_seconds: 10 });
  expect(await open()).toBe(before + 1);
  clock.now += 10 * SECOND;
  await eventually(async () => expect(await open()).toBe(before));
});
