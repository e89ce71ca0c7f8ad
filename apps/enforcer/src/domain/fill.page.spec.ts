import { expect, it } from '@jest/globals';
import { provenTenantId } from '@tollkeeper/kernel';
import { type ActiveBudget, createActiveBudgets } from './active.budgets.ts';
import type { Context, Decided } from './decision.ts';
import { addPage, findFill } from './fill.page.ts';
import type { AccountKey } from './journal.ts';
import { applyOp } from './ledger.ts';
import { createLedger } from './ledger.state.ts';
import { beginMeters } from './meter.begin.ts';
import type { Fill } from './metering.ts';

const NOON = Date.parse('2026-11-21T12:00:00.000Z');
const MONTH = Date.parse('2026-11-01');
const context: Context = {
  ...{ tenantId: provenTenantId('ws_1'), now: NOON, seq: 3, isNewest: true },
  ...{ find: () => null, seqOf: () => undefined },
};
const budget: ActiveBudget = {
  ...{ id: 'bud', name: 'bud', meter: 'bud.1', selector: {}, each: null, overrides: null, denies: true, tellAt: [50] },
  ...{ period: { kind: 'month', startMonth: 1, startDay: 1 }, limitMicros: 100, grantableMicros: 100 },
};
const budgets = createActiveBudgets([budget], 0);
const ACCOUNT: AccountKey = ['bud.1', MONTH, ''];

/** A ledger with a meter that entry 2 has begun, and the fill that both replicas then find. */
function arrange() {
  const ledger = createLedger();
  applyOp(ledger, { op: 'day', start: Date.parse('2026-11-21'), end: Date.parse('2026-11-22'), timezone: 'UTC' });
  beginMeters(ledger, budgets, { seq: 2, now: NOON });
  const found = () => {
    const { fill, seq } = answerOf(findFill().decide(ledger, context));
    return { fill: fill!, seq };
  };
  /** Adds a page with 5 micros: the accounts that have them now, or null. */
  const add = (to: { fill: Fill; seq: number }, cursor: string): readonly AccountKey[] | null => {
    const call = { agentId: 'a', planKey: null, settlementId: `s-${cursor}`, reservationId: null };
    const spend = [{ ...call, micros: 5, at: MONTH, settled: { seq: 1, micros: 5, grant: null } }];
    return answerOf(addPage(to, { spend, cursor, readUntil: NOON }, budgets).decide(ledger, context));
  };
  return { ledger, found, add, spent: () => ledger.readAccount(ACCOUNT)?.posted };
}

function answerOf<T>(decided: Decided<T>): T {
  if (!('answer' in decided)) throw new Error('It was not decided');
  return decided.answer;
}

it('a page is added once, by whichever replica is first', () => {
  const { ledger, found, add, spent } = arrange();
  const first = found();
  expect([add(first, 'next'), add(first, 'next')]).toEqual([[ACCOUNT], null]);
  const last = found();
  expect([add(last, ''), add(last, ''), add(first, 'next')]).toEqual([[ACCOUNT], null, null]);
  expect(spent()).toBe(10);
  expect([...ledger.metering.meters.values()]).toMatchObject([{ isExact: true }]);
});

it('a page of another fill is not added, although its cursor is the same', () => {
  const { found, add, spent } = arrange();
  add(found(), 'next');
  const next = found();
  for (const other of [{ from: next.fill.from + 1 }, { until: next.fill.until + 1 }]) {
    expect(add({ ...next, fill: { ...next.fill, ...other } }, '')).toBeNull();
  }
  expect(spent()).toBe(5);
});

it('a page is not added to a meter that has begun anew since it was read', () => {
  const { ledger, found, add, spent } = arrange();
  const before = found();
  applyOp(ledger, { op: 'forget', meters: ['bud.1'] });
  beginMeters(ledger, budgets, { seq: 4, now: NOON });
  expect(add(before, '')).toBeNull();
  expect(spent()).toBeUndefined();
});
