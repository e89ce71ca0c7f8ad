import { describe, expect, it } from '@jest/globals';
import type { GatewayEvent } from '@tollkeeper/contracts';
import { provenTenantId } from '@tollkeeper/kernel';
import { createMetrics } from '@tollkeeper/runtime';
import { testLogger } from '@tollkeeper/testing';
import { createReservations } from '../src/domain/reservation.use-cases.ts';
import { MAX_ACCOUNTS } from '../src/domain/ledger.ts';
import { viewLimits } from '../src/domain/limit.view.ts';
import { post } from '../src/domain/settle.ts';
import { createLedgerMetrics } from '../src/ledger/ledger.metrics.ts';
import { createWorkspaceLedger } from '../src/ledger/workspace.ledger.ts';
import { createMemoryJournal, createMemorySnapshots } from './memory.stores.ts';

const TENANT = provenTenantId('ws_races');
const NOW = Date.parse('2026-11-23T12:00:00.000Z');
const LIMITS = [
  { scope: 'workspace' as const, scopeId: TENANT, dailyBudgetMicros: 1_000_000 },
  { scope: 'plan' as const, scopeId: 'gold', dailyBudgetMicros: 1_000_000 },
];

/** Two replicas on one journal, and a log that takes an event when it is let. */
function arrange() {
  const journal = createMemoryJournal();
  const events: GatewayEvent[] = [];
  const waiting: (() => void)[] = [];
  const replica = () => {
    const ledger = createWorkspaceLedger(TENANT, {
      journal,
      snapshots: createMemorySnapshots(),
      timezoneOf: async () => 'UTC',
      metrics: createLedgerMetrics(createMetrics('enforcer')),
      clock: () => NOW,
      logger: testLogger().logger,
    });
    const reservations = createReservations({
      submit: (_tenantId, ask) => ledger.submit(ask),
      async append(_tenantId, added) {
        await new Promise<void>((resolve) => waiting.push(resolve));
        events.push(...added);
      },
      limits: {
        applying: async () => ({ limits: LIMITS, plan: 'none' }),
        of: async () => LIMITS,
        all: async () => LIMITS,
      },
      agents: { seen() {} },
      clock: () => NOW,
      onDecision() {},
      onUntold() {},
    });
    return { ledger, reservations };
  };
  /** Resolves once so many appends wait, and lets them go on. */
  async function letAppends(count: number): Promise<void> {
    while (waiting.length < count) await new Promise((resolve) => setImmediate(resolve));
    for (const go of waiting.splice(0)) go();
  }
  const [one, other] = [replica(), replica()];
  const workspace = async () => (await one.ledger.submit(viewLimits(LIMITS))).items[0]!;
  async function held() {
    const request = { requestId: 'r1', agentId: 'a', runId: 'r', planKey: null, amountMicros: 1000, ttlSeconds: 600 };
    const decision = await one.reservations.reserve(TENANT, request);
    if (decision.decision === 'denied' || decision.reservation === null) throw new Error('it was not granted');
    return decision.reservation.id;
  }
  return { one, other, events, letAppends, workspace, held };
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

  it('the same settlement may come again, and counts once', async () => {
    const { one, letAppends, workspace, held } = arrange();
    const id = await held();
    const settlement = { settlementId: 's1', amountMicros: 900 };
    const both = [1, 2].map(() => one.reservations.settle(TENANT, id, settlement));
    await letAppends(2);
    for (const settled of await Promise.all(both)) expect(settled).toMatchObject({ settledMicros: 900 });
    expect(await workspace()).toMatchObject({ spentMicros: 900, heldMicros: 0 });
  });

  it('another replica may end the reservation; the answer then says that the spend counts without it', async () => {
    const { one, other, letAppends, held } = arrange();
    const id = await held();
    const settling = one.reservations.settle(TENANT, id, { settlementId: 's1', amountMicros: 900 });
    settling.catch(() => undefined);
    await expect(other.reservations.release(TENANT, id)).resolves.toMatchObject({ state: 'released' });
    await letAppends(1);
    await expect(settling).rejects.toThrow('counts, as spend without a reservation');
  });
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
