import { expect, it } from '@jest/globals';
import { provenTenantId } from '@tollkeeper/kernel';
import { createMetrics } from '@tollkeeper/runtime';
import { testLogger } from '@tollkeeper/testing';
import { ALONE, createMemoryJournal, createMemorySnapshots } from '../../test/memory.stores.ts';
import { type ActiveBudget, type ActiveBudgets, createActiveBudgets } from '../domain/active.budgets.ts';
import { keys, type Op } from '../domain/journal.ts';
import { StaleBudgets } from '../domain/newest.budgets.ts';
import { post, settle } from '../domain/settle.ts';
import { createLedgerMetrics } from './ledger.metrics.ts';
import { createWorkspaceLedger } from './workspace.ledger.ts';

const TENANT = provenTenantId('ws_1');
const NOON = Date.parse('2026-11-21T12:00:00.000Z');
const TODAY = Date.parse('2026-11-21');
const MONTH: ActiveBudget = {
  ...{ id: 'bud', name: 'bud', meter: 'bud.1', selector: {}, each: null, overrides: null, denies: true, tellAt: [50] },
  ...{ period: { kind: 'month', startMonth: 1, startDay: 1 }, limitMicros: 100, grantableMicros: 100 },
};

/** A ledger with open reservations of 5 micros. */
async function arrange(holds: number) {
  const journal = createMemoryJournal();
  const call = { agentId: 'a', runId: 'r', planKey: null, amountMicros: 5, ttlSeconds: 600, day: TODAY };
  const times = { createdAt: NOON, expiresAt: NOON + 600_000 };
  const day: Op = { op: 'day', start: TODAY, end: TODAY + 86_400_000, timezone: 'UTC' };
  const grants = Array.from({ length: holds }, (_, nth): Op => {
    return { op: 'grant', id: `rsv_${nth}`, requestId: `r-${nth}`, ...call, ...times };
  });
  await journal.append(TENANT, { seq: 1, at: NOON, ops: [day, ...grants] }, []);
  const time = { now: NOON };
  const ledger = createWorkspaceLedger(TENANT, {
    ...{ ...ALONE, journal, snapshots: createMemorySnapshots(), timezoneOf: async () => 'UTC' },
    ...{ metrics: createLedgerMetrics(createMetrics('enforcer')), clock: () => time.now, logger: testLogger().logger },
  });
  let spends = 0;
  const spend = (budgets: ActiveBudgets) => {
    const spent = {
      settlementId: `s-${spends++}`,
      reservationId: null,
      agentId: 'a',
      planKey: null,
      micros: 1,
      at: NOON,
    };
    return ledger.submit(post(spent, NOON, budgets));
  };
  /** The names of the ops of each entry after the first, each once. */
  async function entries(): Promise<string[][]> {
    const all: string[][] = [];
    for await (const { ops } of journal.readAfter(TENANT, 1)) all.push([...new Set(ops.map(({ op }) => op))]);
    return all;
  }
  return { journal, ledger, spend, entries, time };
}
const now = () => performance.now();

it('meters begin in the entry of the first call that counts in them', async () => {
  const { spend, entries } = await arrange(3);
  await spend(createActiveBudgets([MONTH], now()));
  expect(await entries()).toEqual([['period', 'begin', 'adopt', 'post']]);
});

it('more than 2,000 open reservations are adopted in an entry of their own, before the call', async () => {
  const { spend, entries } = await arrange(2_001);
  await spend(createActiveBudgets([MONTH], now()));
  expect(await entries()).toEqual([['period', 'begin', 'adopt'], ['post']]);
});

it('a call waits for one entry of adoptions at most, and later calls for the others', async () => {
  const { spend, entries } = await arrange(10_001);
  const all = [MONTH, { ...MONTH, id: 'two', meter: 'two.1' }, { ...MONTH, id: 'three', meter: 'three.1' }];
  const budgets = createActiveBudgets(all, now());
  const adopts = ['period', 'begin', 'adopt'];
  await spend(budgets);
  expect(await entries()).toEqual([adopts, ['post']]);
  await spend(budgets);
  expect(await entries()).toEqual([adopts, ['post'], adopts, ['post']]);
});

it('no meter is forgotten while it is uncertain which budgets there are', async () => {
  const { spend, entries } = await arrange(0);
  await spend(createActiveBudgets([MONTH], now()));
  const uncertain = createActiveBudgets([], now(), { isCertain: false });
  await expect(spend(uncertain)).rejects.toBeInstanceOf(StaleBudgets);
  await spend(createActiveBudgets([], now()));
  expect(await entries()).toEqual([
    ['period', 'begin', 'post'],
    ['forget', 'post'],
  ]);
});

it('the spend of an expired reservation waits until it is known in which budgets it counts', async () => {
  const { journal, ledger, spend, time } = await arrange(1);
  const budgets = createActiveBudgets([MONTH], now());
  await spend(budgets);
  time.now += 601_000;
  await ledger.endDueHolds();
  const settlement = { settlementId: 's-late', amountMicros: 7 };
  await expect(ledger.submit(settle('rsv_0', settlement))).rejects.toMatchObject({
    ...{ code: 'service_unavailable', retryAfterSeconds: 1 },
  });
  expect((await journal.find(TENANT, [keys.settlement('s-late')])).size).toBe(0);
  await ledger.submit(settle('rsv_0', settlement, budgets));
  const [late] = (await journal.find(TENANT, [keys.settlement('s-late')])).values();
  expect(late?.op).toMatchObject({ op: 'late', micros: 7, accounts: [['bud.1', Date.parse('2026-11-01'), '']] });
});
