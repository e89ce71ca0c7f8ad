import { beforeEach, describe, expect, it } from '@jest/globals';
import { provenTenantId } from '@tollkeeper/kernel';
import { type ActiveBudget, type ActiveBudgets, createActiveBudgets } from './active.budgets.ts';
import type { Context } from './decision.ts';
import type { OpOf } from './journal.ts';
import { applyOp, MAX_BUDGET_ACCOUNTS } from './ledger.ts';
import { createLedger, type LedgerState } from './ledger.state.ts';
import { rowsOf } from './limit.rows.ts';
import { beginMeters } from './meter.begin.ts';
import { post } from './settle.ts';
import { findReached, markReported } from './threshold.ts';

const MINUTE = 60_000;
const NOON = Date.parse('2026-11-21T12:00:00.000Z');
const DAY = { start: Date.parse('2026-11-21'), end: Date.parse('2026-11-22'), timezone: 'UTC' };
const TENANT = provenTenantId('ws_1');

const budget = (id: string, more: Partial<ActiveBudget>): ActiveBudget => ({
  ...{ id, name: id, meter: `${id}.1`, selector: {}, each: null, overrides: null, denies: true, tellAt: [50] },
  ...{ period: { kind: 'day', startMonth: 1, startDay: 1 }, limitMicros: 100, grantableMicros: 100 },
  ...more,
});
const callOf = (agent: string) => ({ agent, plan: null, model: null, provider: null, key: null, labels: {} });
const limitsOf = (budgets: ActiveBudgets, at: number, agent = 'ann') => budgets.limitsFor(callOf(agent), at);

/** Budgets whose meters have begun. */
function active(...all: ActiveBudget[]): ActiveBudgets {
  const budgets = createActiveBudgets(all, 0);
  beginMeters(ledger, budgets, { seq: 1, now });
  return budgets;
}

let ledger: LedgerState;
let now: number;
beforeEach(() => {
  now = NOON;
  ledger = createLedger();
  applyOp(ledger, { op: 'day', ...DAY });
});

let spends = 0;
function spend(micros: number, budgets: ActiveBudgets, at = now): void {
  const spent = { settlementId: `s-${spends++}`, reservationId: null, agentId: 'ann', planKey: null, micros, at };
  post(spent, now, budgets).decide(ledger, contextAt(now));
}
const contextAt = (at: number): Context => ({
  ...{ tenantId: TENANT, now: at, seq: 2, isNewest: true, find: () => null, seqOf: () => undefined },
});
const spentOf = (budgets: ActiveBudgets) =>
  rowsOf(ledger, DAY, now, limitsOf(budgets, now)).map(({ spentMicros }) => spentMicros);

describe('a rolling budget', () => {
  const hour = budget('hour', { period: { kind: 'rolling', seconds: 3_600 } });

  it('forgets nothing of its hour for an event that is ahead of the clock', () => {
    const budgets = active(hour);
    spend(70, budgets);
    now += 58 * MINUTE;
    spend(1, budgets, now + 5 * MINUTE);
    expect(spentOf(budgets)).toEqual([70]);
    now += 5 * MINUTE;
    expect(spentOf(budgets)).toEqual([1]);
  });

  it('has room again when its oldest amount leaves, not when a step without one does', () => {
    const budgets = active(hour);
    spend(0, budgets);
    now += 10 * MINUTE;
    spend(60, budgets);
    expect(rowsOf(ledger, DAY, now, limitsOf(budgets, now))).toMatchObject([{ resetsAt: now + 60 * MINUTE }]);
  });

  it('is reported once, also while a step that is ahead of the clock is open', () => {
    const budgets = active(hour);
    spend(60, budgets);
    spend(0, budgets, now + 5 * MINUTE);
    const reaching = limitsOf(budgets, now).map((limit) => ({ limit, start: now }));
    const reach = () => {
      const decided = findReached(reaching).decide(ledger, contextAt(now));
      if (!('ops' in decided)) throw new Error('It needs nothing');
      markReported(decided.answer).decide(ledger, contextAt(now));
      return decided.answer.map(({ percent }) => percent);
    };
    expect([reach(), reach()]).toEqual([[50], []]);
  });
});

describe('a budget that overrides another one', () => {
  it('once does so in its time alone, so that its value is never without a limit', () => {
    const split = budget('agents', { each: 'agent', limitMicros: 5 });
    const period = { kind: 'once', start: NOON, end: NOON + MINUTE } as const;
    const ann = budget('ann', { selector: { agent: 'ann' }, overrides: 'agents', period });
    const budgets = active(split, ann);
    const namesAt = (at: number, agent?: string) => limitsOf(budgets, at, agent).map(({ scopeId }) => scopeId);
    expect(namesAt(NOON - 1)).toContain('agents');
    expect(namesAt(NOON)).toEqual(['ann']);
    expect(namesAt(NOON + MINUTE)).toContain('agents');
    expect(namesAt(NOON, 'bob')).toContain('agents');
  });
});

it('budgets with very many values leave room for those without', () => {
  for (let meter = 0; meter * 20_000 < MAX_BUDGET_ACCOUNTS; meter += 1) {
    applyOp(ledger, { op: 'period', meter: `m${meter}`, start: DAY.start, end: DAY.end, until: DAY.end });
    for (let value = 0; value < 20_000; value += 1) ledger.account([`m${meter}`, DAY.start, `user-${value}`]);
  }
  expect(ledger.budgetAccounts).toBe(MAX_BUDGET_ACCOUNTS);
  const [whole, each] = [budget('whole', {}), budget('each', { each: 'agent' })];
  const budgets = active(whole, each);
  spend(7, budgets);
  expect(spentOf(budgets)).toEqual([7, 0]);
});

it('the end of a grace is reported when no more is granted, however the amounts round', () => {
  const grace = budget('grace', { limitMicros: 5_000_001, grantableMicros: 5_500_001, tellAt: [100, 110] });
  const budgets = active(grace);
  spend(5_500_001, budgets);
  const [limit] = limitsOf(budgets, now);
  const decided = findReached([{ limit: limit!, start: DAY.start }]).decide(ledger, contextAt(now));
  expect(decided).toMatchObject({ answer: [{ percent: 100 }, { percent: 110 }] });
});

it('periods that have been over for an hour are removed, and their accounts with them', () => {
  const open = (start: number): OpOf<'period'> => ({
    ...{ op: 'period', meter: 'm', start, end: start + MINUTE, until: start + MINUTE },
  });
  for (let minute = 0; minute < 180; minute += 1) {
    applyOp(ledger, open(NOON + minute * MINUTE));
    ledger.account(['m', NOON + minute * MINUTE, 'ann']);
  }
  expect([ledger.periods('m').length, ledger.budgetAccounts, ledger.accountTotal]).toEqual([61, 61, 61]);
});
