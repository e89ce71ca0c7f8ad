import { describe, expect, it } from '@jest/globals';
import type { GatewayEvent } from '@tollkeeper/contracts';
import { provenTenantId } from '@tollkeeper/kernel';
import { createMetrics } from '@tollkeeper/runtime';
import { testLogger } from '@tollkeeper/testing';
import { extend } from '../src/domain/hold.ts';
import { reservationIdOf } from '../src/domain/journal.ts';
import { MAX_ACCOUNTS } from '../src/domain/ledger.ts';
import { createReservations } from '../src/domain/reservation.use-cases.ts';
import { viewLimits } from '../src/domain/limit.view.ts';
import { post } from '../src/domain/settle.ts';
import { createLedgerMetrics } from '../src/ledger/ledger.metrics.ts';
import { createWorkspaceLedger } from '../src/ledger/workspace.ledger.ts';
import { NO_BUDGETS } from './calls.ts';
import { createMemoryJournal, createMemorySnapshots, ALONE } from './memory.stores.ts';

const TENANT = provenTenantId('ws_races');
const KEY = { tenantId: TENANT, keyId: null, labels: {} };
const NOW = Date.parse('2026-11-23T12:00:00.000Z');
const LIMITS = [
  { scope: 'workspace' as const, scopeId: TENANT, limitMicros: 1_000_000 },
  { scope: 'plan' as const, scopeId: 'gold', limitMicros: 1_000_000 },
];

/**
 * Two replicas on one journal, and a log that takes an event only when released. The first replica can be cut off from
 * the journal.
 */
function arrange() {
  const journal = createMemoryJournal();
  const time = { now: NOW };
  const network = { up: Promise.resolve() };
  const events: GatewayEvent[] = [];
  const waiting: (() => void)[] = [];
  const replica = (reach: { up: Promise<void> }) => {
    const ledger = createWorkspaceLedger(TENANT, {
      journal: {
        ...journal,
        async *readAfter(...args) {
          await reach.up;
          yield* journal.readAfter(...args);
        },
        append: (...args) => reach.up.then(() => journal.append(...args)),
      },
      snapshots: createMemorySnapshots(),
      timezoneOf: async () => 'UTC',
      ...ALONE,
      metrics: createLedgerMetrics(createMetrics('enforcer')),
      clock: () => time.now,
      logger: testLogger().logger,
    });
    const reservations = createReservations({
      submit: (_tenantId, ask) => ledger.submit(ask),
      async append(_tenantId, added) {
        await new Promise<void>((resolve) => waiting.push(resolve));
        events.push(...added.map(({ event }) => event));
      },
      limits: {
        applying: async () => ({ limits: LIMITS, plan: 'none' }),
        of: async () => LIMITS,
        all: async () => LIMITS,
      },
      budgets: NO_BUDGETS,
      denials: { report: async () => {} },
      agents: { seen() {} },
      agentLabels: { labelsOf: () => new Map() },
      clock: () => NOW,
      onDecision() {},
      onUsedUp() {},
    });
    return { ledger, reservations };
  };
  /** Resolves once this many appends wait, and releases them. */
  async function letAppends(count: number): Promise<void> {
    while (waiting.length < count) await new Promise((resolve) => setImmediate(resolve));
    for (const go of waiting.splice(0)) go();
  }
  /** Cuts the first replica off from the journal until the returned function is called. */
  function cutOff(): () => void {
    let restore = () => {};
    network.up = new Promise((resolve) => {
      restore = resolve;
    });
    return restore;
  }
  const [one, other] = [replica(network), replica({ up: Promise.resolve() })];
  const workspace = async () => (await one.ledger.submit(viewLimits(LIMITS))).items[0]!;
  async function held(requestId = 'r1') {
    const request = requestOf(requestId, 1000);
    const decision = await one.reservations.reserve(KEY, request);
    if (decision.decision === 'denied' || decision.reservation === null) throw new Error('it was not granted');
    return decision.reservation.id;
  }
  return { one, other, journal, time, events, letAppends, cutOff, workspace, held };
}

function requestOf(requestId: string, amountMicros: number) {
  const call = { agentId: 'a', runId: 'r', planKey: null, model: null, provider: null, labels: {} };
  return { requestId, ...call, amountMicros, ttlSeconds: 600 };
}

describe('while a settlement is on its way to the log', () => {
  it('a settlement with another id and a release are refused, and nothing of them counts', async () => {
    const { one, events, letAppends, workspace, held } = arrange();
    const id = await held();
    const first = one.reservations.settle(TENANT, id, { settlementId: 's1', amountMicros: 900 });
    const second = one.reservations.settle(TENANT, id, { settlementId: 's2', amountMicros: 800 });
    await expect(second).rejects.toMatchObject({ code: 'conflict' });
    await expect(one.reservations.release(TENANT, id)).rejects.toMatchObject({ code: 'conflict' });
    await letAppends(1);
    await expect(first).resolves.toMatchObject({ state: 'settled', settledMicros: 900 });
    expect(events).toHaveLength(1);
    expect(await workspace()).toMatchObject({ spentMicros: 900, heldMicros: 0 });
    await expect(one.reservations.release(TENANT, id)).rejects.toThrow('is settled');
  });

  it('the same settlement may come again, with another amount too, and the first amount is reported and counts once', async () => {
    const { one, events, letAppends, workspace, held } = arrange();
    const id = await held();
    const both = [900, 800].map((amountMicros) =>
      one.reservations.settle(TENANT, id, { settlementId: 's1', amountMicros }),
    );
    await letAppends(1);
    for (const settled of await Promise.all(both)) expect(settled).toMatchObject({ settledMicros: 900 });
    expect(events).toEqual([expect.objectContaining({ data: expect.objectContaining({ amount_micros: 900 }) })]);
    expect(await workspace()).toMatchObject({ spentMicros: 900, heldMicros: 0 });
    await expect(one.reservations.release(TENANT, id)).rejects.toThrow('is settled');
  });

  it('another replica may end the reservation; the answer then says that the spend counts without it', async () => {
    const { one, other, letAppends, held } = arrange();
    const id = await held();
    const settling = one.reservations.settle(TENANT, id, { settlementId: 's1', amountMicros: 900 });
    settling.catch(() => undefined);
    await expect(other.reservations.release(TENANT, id)).resolves.toMatchObject({ state: 'released' });
    await letAppends(1);
    await expect(settling).rejects.toThrow('spend counts as unreserved');
  });
});

describe('a settlement id that another reservation has', () => {
  const another = 'belongs to another reservation, so nothing was posted';

  it('is refused before anything is reported, by each replica', async () => {
    const { one, other, events, letAppends, workspace, held } = arrange();
    const [first, second] = [await held('r1'), await held('r2')];
    const settled = one.reservations.settle(TENANT, first, { settlementId: 's1', amountMicros: 900 });
    await letAppends(1);
    await settled;
    for (const { reservations } of [one, other]) {
      const again = reservations.settle(TENANT, second, { settlementId: 's1', amountMicros: 800 });
      await expect(again).rejects.toThrow(another);
    }
    expect(events).toHaveLength(1);
    expect(await workspace()).toMatchObject({ spentMicros: 900, heldMicros: 1000 });
  });

  it('is refused too when both are settled at the same time, and the answer does not say that it counts', async () => {
    const { one, other, letAppends, workspace, held } = arrange();
    const [first, second] = [await held('r1'), await held('r2')];
    const both = [
      one.reservations.settle(TENANT, first, { settlementId: 's1', amountMicros: 900 }),
      other.reservations.settle(TENANT, second, { settlementId: 's1', amountMicros: 800 }),
    ];
    await letAppends(2);
    const outcomes = await Promise.allSettled(both);
    const refused = outcomes.filter((outcome) => outcome.status === 'rejected');
    expect(refused).toHaveLength(1);
    expect(String(refused[0]!.reason)).toContain(another);
    expect(await workspace()).toMatchObject({ heldMicros: 1000 });
  });
});

describe('a request that was answered too late', () => {
  it('is never granted, since its caller may have been denied meanwhile', async () => {
    const { one, other, cutOff, workspace } = arrange();
    await other.reservations.reserve(KEY, requestOf('all', 1_000_000));
    const restore = cutOff();
    await expect(one.reservations.reserve(KEY, requestOf('r1', 1))).rejects.toThrow('took too long');
    expect(await other.reservations.reserve(KEY, requestOf('r1', 1))).toMatchObject({ decision: 'denied' });
    await other.reservations.release(TENANT, reservationIdOf(TENANT, 'all'));
    restore();
    expect(await workspace()).toMatchObject({ heldMicros: 0, openReservations: 0 });
  });
});

it('a hold that is extended thousands of times ends at its last end', async () => {
  const { one, time, workspace, held } = arrange();
  const id = await held();
  for (let times = 0; times < 3_000; times += 1) {
    await one.ledger.submit(extend(id, times % 2 === 0 ? 3600 : 60));
  }
  time.now += 59_999;
  expect(await workspace()).toMatchObject({ heldMicros: 1000, expired: 0 });
  time.now += 1;
  expect(await workspace()).toMatchObject({ heldMicros: 0, expired: 1 });
});

it('a journal with an op of a newer version is not decided on', async () => {
  const { one, journal } = arrange();
  const op = JSON.parse('{"op":"refund","micros":5}');
  await journal.append(TENANT, { seq: 1, at: NOW, ops: [op] });
  await expect(one.reservations.reserve(KEY, requestOf('r1', 1))).rejects.toThrow('Entry 1 ');
});

it('spend that says a time far ahead counts in the running day, and no day is lost for it', async () => {
  const { one, workspace, held } = arrange();
  await held();
  const at = NOW + 365 * 86_400_000;
  const far = post({ settlementId: 's1', reservationId: null, agentId: 'a', planKey: null, micros: 7, at }, NOW);
  expect(await one.ledger.submit(far)).toMatchObject({ outcome: 'unreserved', posting: { agentId: 'a' } });
  expect(await workspace()).toMatchObject({ heldMicros: 1000, spentMicros: 7 });
});

it('agents that use up the accounts of a day leave room for plans', async () => {
  const { one } = arrange();
  const spend = (index: number, planKey: string | null) =>
    post({ settlementId: `s${index}`, reservationId: null, agentId: `a${index}`, planKey, micros: 1, at: NOW }, NOW);
  await Promise.all(Array.from({ length: MAX_ACCOUNTS }, (_, index) => one.ledger.submit(spend(index, null))));
  await one.ledger.submit(spend(MAX_ACCOUNTS, 'gold'));
  const { items } = await one.ledger.submit(viewLimits(LIMITS));
  expect(items.map(({ spentMicros }) => spentMicros)).toEqual([MAX_ACCOUNTS + 1, 1]);
});
