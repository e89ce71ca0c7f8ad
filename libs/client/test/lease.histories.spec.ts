import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { createWorld } from './lease.world.ts';

const HISTORIES = 200;
const AGENTS = ['agent-a', 'agent-b'];
const LIMITS = { agents: { 'agent-a': 40_000, 'agent-b': 9_000 }, workspace: 45_000 };
const TTL_SECONDS = 20;
/** Leases of lost answers have ended then. */
const LONG_MS = 3_600_000;
/** More than the tenth of a lease's time that is not trusted. */
const SLOW_MS = 5_000;
/** From a settlement until it has arrived: it waits, for a request before it as well, and is on its way. */
const ARRIVED_MS = 300;

type World = ReturnType<typeof createWorld>;
type Gateway = ReturnType<World['startGateway']>;

/** Calls of gateways at random times, of random costs, that take a random time. */
async function play(world: World, gateways: Gateway[], { bursts = 60, isDownAtTimes = false } = {}) {
  const { random, time } = world;
  const settled: { at: number; micros: number }[] = [];
  const call = async (gateway: Gateway) => {
    const amountMicros = 1 + Math.floor(random() * 300);
    const allowed = await gateway.reserve(AGENTS[Math.floor(random() * 2)]!, amountMicros);
    if (allowed === undefined) return;
    await time.pause(random() < 0.1 ? random() * 60_000 : random() * 500);
    if (!gateway.isAlive) return;
    const costMicros = random() < 0.1 ? null : Math.floor(random() * (amountMicros + 1));
    await gateway.end(allowed, amountMicros, costMicros);
    settled.push({ at: time.now, micros: costMicros ?? 0 });
  };
  const calls: Promise<void>[] = [];
  for (let burst = 0; burst < bursts; burst += 1) {
    await time.advance(random() * 3_000);
    if (isDownAtTimes && random() < 0.03) world.goDown(random() * 30_000);
    for (let count = Math.ceil(random() * 8); count > 0; count -= 1) {
      calls.push(call(gateways[Math.floor(random() * gateways.length)]!));
    }
  }
  return { calls, spentBy: (at: number) => settled.reduce((sum, each) => sum + (each.at <= at ? each.micros : 0), 0) };
}

async function playToTheEnd(world: World, gateways: Gateway[], options = {}): Promise<number> {
  const { calls, spentBy } = await play(world, gateways, options);
  await world.time.advance(120_000);
  await Promise.all(calls);
  const closed = Promise.all(gateways.map((gateway) => gateway.calls.close()));
  await world.time.advance(LONG_MS);
  await closed;
  return spentBy(Infinity);
}

/** The seeds of which the history does not hold, and why. */
async function failuresOf(history: (seed: number) => Promise<void>): Promise<string[]> {
  const failures: string[] = [];
  for (let seed = 1; seed <= HISTORIES; seed += 1) {
    await history(seed).catch((error: unknown) => failures.push(`seed ${seed}: ${String(error)}`));
  }
  return failures;
}

describe('in every history', () => {
  const { now } = Date;
  let looks = 0;
  // The clock of the system jumps by 30 years at each look.
  beforeAll(() => {
    Date.now = () => ((looks += 1) % 2) * 1e12;
  });
  afterAll(() => {
    Date.now = now;
  });

  it('a call is granted only from an open lease with room, and counts once, while requests and answers are lost, late and repeated', async () => {
    const failures = await failuresOf(async (seed) => {
      const maxDelayMs = seed % 2 === 0 ? SLOW_MS : 20;
      const leases = { ttlSeconds: TTL_SECONDS };
      const world = createWorld({ seed, limits: LIMITS, leases, losses: 0.05, maxDelayMs });
      const { ledger, problems, startGateway } = world;
      const spentMicros = await playToTheEnd(world, [startGateway(0.97), startGateway(1.03)], { isDownAtTimes: true });
      expect(problems).toEqual([]);
      expect(ledger.posted()).toBe(spentMicros);
      expect({ held: ledger.held(), above: ledger.aboveHoldMicros }).toEqual({ held: 0, above: 0 });
      expect(ledger.posted()).toBeLessThanOrEqual(LIMITS.workspace + ledger.lateMicros);
    });
    expect(failures).toEqual([]);
  });

  it('nothing passes a limit, and no settlement is late, while the server answers', async () => {
    const failures = await failuresOf(async (seed) => {
      const world = createWorld({ seed, limits: LIMITS, leases: { ttlSeconds: TTL_SECONDS } });
      const { ledger, problems, startGateway } = world;
      const spentMicros = await playToTheEnd(world, [startGateway(0.97), startGateway(1.03)]);
      expect(problems).toEqual([]);
      expect(ledger.posted()).toBe(spentMicros);
      expect({ late: ledger.lateMicros, above: ledger.aboveHoldMicros }).toEqual({ late: 0, above: 0 });
      expect(ledger.posted()).toBeLessThanOrEqual(LIMITS.workspace);
      expect(ledger.posted('agent-b')).toBeLessThanOrEqual(LIMITS.agents['agent-b']);
    });
    expect(failures).toEqual([]);
  });

  it('a gateway that dies loses only its last settlements, and holds nothing once its leases have ended', async () => {
    const failures = await failuresOf(async (seed) => {
      const world = createWorld({ seed, limits: LIMITS, leases: { ttlSeconds: TTL_SECONDS } });
      const { ledger, problems, startGateway, time } = world;
      const gateway = startGateway();
      const { spentBy } = await play(world, [gateway], { bursts: 15 });
      gateway.kill();
      const diedAt = time.now;
      await time.advance(TTL_SECONDS * 1_000 + ARRIVED_MS);
      expect(problems).toEqual([]);
      expect(ledger.posted()).toBeGreaterThanOrEqual(spentBy(diedAt - ARRIVED_MS));
      expect(ledger.posted()).toBeLessThanOrEqual(spentBy(diedAt));
      expect(ledger.held()).toBe(0);
    });
    expect(failures).toEqual([]);
  });
});
