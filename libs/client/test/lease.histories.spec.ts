import { describe, expect, it } from '@jest/globals';
import { createWorld } from './lease.world.ts';

const HISTORIES = 150;
const seeds = Array.from({ length: HISTORIES }, (_, index) => index + 1);
const AGENTS = ['agent-a', 'agent-b'];
const LIMITS = { agents: { 'agent-a': 40_000, 'agent-b': 9_000 }, workspace: 45_000 };
/** Leases of lost answers and of dead gateways have ended then. */
const LONG_MS = 3_600_000;

/** Calls of gateways at random times, of random costs, that take a random time. Resolves to what was settled. */
async function play({ seed, losses = 0, isEven = false }: { seed: number; losses?: number; isEven?: boolean }) {
  const world = createWorld({ seed, limits: LIMITS, leases: { ttlSeconds: 20 }, losses });
  const { random, time, startGateway } = world;
  const gateways = [startGateway(isEven ? 1 : 0.97), startGateway(isEven ? 1 : 1.03)];
  let settledMicros = 0;
  const call = async (gateway: (typeof gateways)[number]) => {
    const amountMicros = 1 + Math.floor(random() * 300);
    const allowed = await gateway.reserve(AGENTS[Math.floor(random() * 2)]!, amountMicros);
    if (allowed === undefined) return;
    await time.pause(random() < 0.1 ? random() * 60_000 : random() * 500);
    if (!gateway.isAlive) return;
    const costMicros = random() < 0.1 ? null : Math.floor(random() * (amountMicros + 1));
    await gateway.end(allowed, amountMicros, costMicros);
    settledMicros += costMicros ?? 0;
  };
  const calls: Promise<void>[] = [];
  for (let burst = 0; burst < 60; burst += 1) {
    await time.advance(random() * 3_000);
    if (losses > 0 && random() < 0.03) world.goDown(random() * 30_000);
    for (let count = Math.ceil(random() * 8); count > 0; count -= 1) {
      calls.push(call(gateways[Math.floor(random() * 2)]!));
    }
  }
  await time.advance(120_000);
  await Promise.all(calls);
  const closed = Promise.all(gateways.map(({ calls: of }) => of.close()));
  await time.advance(LONG_MS);
  await closed;
  return { world, settledMicros };
}

describe('in every history of two gateways', () => {
  it.each(seeds)('nothing is granted but from an open lease with room, and each call counts once: %d', async (seed) => {
    const { world, settledMicros } = await play({ seed, losses: 0.05 });
    const { ledger, problems } = world;
    expect(problems).toEqual([]);
    expect(ledger.posted()).toBe(settledMicros);
    expect(ledger.held()).toBe(0);
    expect(ledger.aboveHoldMicros).toBe(0);
    expect(ledger.posted()).toBeLessThanOrEqual(LIMITS.workspace + ledger.lateMicros);
  });

  it.each(seeds)('nothing is late while the server answers: %d', async (seed) => {
    const { world, settledMicros } = await play({ seed });
    const { ledger, problems } = world;
    expect(problems).toEqual([]);
    expect(ledger.posted()).toBe(settledMicros);
    expect({ late: ledger.lateMicros, above: ledger.aboveHoldMicros }).toEqual({ late: 0, above: 0 });
    expect(ledger.posted()).toBeLessThanOrEqual(LIMITS.workspace);
    expect(ledger.posted('agent-b')).toBeLessThanOrEqual(LIMITS.agents['agent-b']);
  });
});
