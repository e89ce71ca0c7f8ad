import { describe, expect, it } from '@jest/globals';
import { provenTenantId } from '@tollkeeper/kernel';
import { UNKNOWN } from '../../test/calls.ts';
import { type ActiveBudget, createActiveBudgets } from './active.budgets.ts';
import { accountIn } from './budget.period.ts';
import { grantLease } from './lease.grant.ts';
import { renewLease } from './lease.hold.ts';
import { applyOp, dailyAccount, type Ledger, MAX_ACCOUNTS } from './ledger.ts';
import { createLedger } from './ledger.state.ts';
import type { DailyLimit } from './limit.ts';

const SECOND = 1000;
const NOW = Date.parse('2026-11-21T18:00:00.000Z');
const DAY = { op: 'day', start: Date.parse('2026-11-21'), end: Date.parse('2026-11-22'), timezone: 'UTC' } as const;
const tenantId = provenTenantId('ws_1');
const context = { tenantId, now: NOW, seq: 1, isNewest: true, find: () => null, seqOf: () => undefined };
const REQUEST = { requestId: 'l-1', agentId: 'a', planKey: null, runId: null, ttlSeconds: 600, minMicros: 1 };

function budget(id: string, others: Partial<ActiveBudget>): ActiveBudget {
  const common = { selector: {}, each: null, overrides: null, denies: true, tellAt: [], limitMicros: 1_000 };
  const period = { kind: 'day', startMonth: 1, startDay: 1 } as const;
  return { ...common, id, name: id, meter: id, period, grantableMicros: 1_000, ...others };
}

/** A ledger on the day, whose meters have begun. */
function begin(...budgets: ActiveBudget[]) {
  const ledger = createLedger();
  applyOp(ledger, DAY);
  const active = createActiveBudgets(budgets, 0);
  const meters = active.all.map(({ meter }) => [meter, null] as const);
  if (meters.length > 0) applyOp(ledger, { op: 'begin', cut: 0, at: NOW, meters });
  return { ledger, active };
}

type Begun = ReturnType<typeof begin>;
const CALL = { agent: 'a', plan: null, model: null, provider: null, key: null, labels: {} };

function grant({ ledger, active }: Begun, amountMicros: number, daily: readonly DailyLimit[] = []) {
  const limits = [...daily, ...active.limitsFor(CALL, NOW)];
  const decided = grantLease({ ...UNKNOWN, ...REQUEST, amountMicros, limits }, active).decide(ledger, context);
  if (!('answer' in decided) || decided.answer.decision !== 'allowed') throw new Error(JSON.stringify(decided));
  return decided.answer.lease;
}

function renew({ ledger, active }: Begun, id: string, amountMicros: number) {
  const applying = { ...UNKNOWN, isPlanUsable: true, daily: [], budgets: active };
  const decided = renewLease(id, { requestId: 'r-1', amountMicros, ttlSeconds: 600 }, applying).decide(ledger, context);
  if (!('answer' in decided)) throw new Error(JSON.stringify(decided));
  return decided.answer;
}

function useAllValues(ledger: Ledger, { id, meter, period }: ActiveBudget): void {
  applyOp(ledger, { op: 'period', meter, start: DAY.start, end: DAY.end, until: DAY.end });
  for (let nth = 0; nth < MAX_ACCOUNTS; nth += 1) {
    ledger.account(accountIn({ ...budget(id, { meter, period }), value: `other-${nth}` }, DAY));
  }
}

describe('a lease', () => {
  it('ends, granted or renewed, where a budget begins that is for once', () => {
    const period = { kind: 'once', start: NOW + 30 * SECOND, end: NOW + 3_600 * SECOND } as const;
    const begun = begin(budget('once', { period }));
    const lease = grant(begun, 10);
    expect(lease.expiresAt).toBe(period.start);
    expect(renew(begun, lease.id, 20)).toMatchObject({ amountMicros: 20, expiresAt: period.start });
  });

  it('is at most half of a limit whose spend is below 0 by a correction', () => {
    const begun = begin();
    begun.ledger.account(dailyAccount('workspace', DAY.start, ''))!.posted = -5_000;
    const limit = { scope: 'workspace', scopeId: tenantId, limitMicros: 100 } as const;
    expect(grant(begun, 1_000, [limit]).amountMicros).toBe(50);
  });

  it('can be renewed beside a budget that only warns and has no room for its value, and not beside one that denies', () => {
    const warning = budget('agents', { each: 'agent', denies: false });
    const begun = begin(warning);
    useAllValues(begun.ledger, warning);
    const lease = grant(begun, 10);
    expect(renew(begun, lease.id, 20).amountMicros).toBe(20);
    const denying = { ...begun, active: createActiveBudgets([{ ...warning, denies: true }], 0) };
    expect(renew(denying, lease.id, 30).amountMicros).toBe(20);
  });

  it('that expires is no sign of a call whose cost is missing, so it does not count as expired', () => {
    const begun = begin();
    const { id, expiresAt } = grant(begun, 10);
    applyOp(begun.ledger, { op: 'expire', id, expiresAt });
    const account = begun.ledger.readAccount(dailyAccount('workspace', DAY.start, ''));
    expect(account).toMatchObject({ leases: 0, held: 0, expired: 0 });
  });
});
