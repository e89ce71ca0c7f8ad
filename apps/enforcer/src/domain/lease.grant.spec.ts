import { describe, expect, it } from '@jest/globals';
import { provenTenantId } from '@tollkeeper/kernel';
import { UNKNOWN } from '../../test/calls.ts';
import { createActiveBudgets } from './active.budgets.ts';
import { leaseIdOf } from './journal.ts';
import { grantLease } from './lease.grant.ts';
import { renewLease, returnLease } from './lease.hold.ts';
import { settleLease } from './lease.settle.ts';
import { applyOp } from './ledger.ts';
import { createLedger } from './ledger.state.ts';
import { reserve } from './reserve.ts';
import type { Ask } from './decision.ts';
import type { DailyLimit } from './limit.ts';

const NOW = Date.parse('2026-11-21T18:00:00.000Z');
const DAY = { op: 'day', start: Date.parse('2026-11-21'), end: Date.parse('2026-11-22'), timezone: 'UTC' } as const;
const tenantId = provenTenantId('ws_1');
const context = { tenantId, now: NOW, seq: 1, isNewest: true, find: () => null, seqOf: () => undefined };
const none = createActiveBudgets([], 0);

/** A ledger of the running day, with a daily budget of the workspace. */
function limitedTo(limitMicros: number) {
  const ledger = createLedger();
  applyOp(ledger, DAY);
  const limits: DailyLimit[] = [{ scope: 'workspace', scopeId: tenantId, limitMicros }];
  let nth = 0;
  function answer<Answer>(ask: Ask<Answer>): Answer {
    const decided = ask.decide(ledger, context);
    if (!('ops' in decided)) throw new Error(JSON.stringify(decided));
    return decided.answer;
  }
  const lease = (amountMicros: number, minMicros: number) => {
    const requestId = `lease-${(nth += 1)}`;
    const asked = { requestId, agentId: 'planner', planKey: null, ttlSeconds: 60, runId: null, ...UNKNOWN };
    const decision = answer(grantLease({ ...asked, amountMicros, minMicros, limits }));
    return { id: leaseIdOf(tenantId, requestId), micros: 'lease' in decision ? decision.lease.amountMicros : null };
  };
  const settle = (id: string, micros: number) =>
    answer(settleLease(id, [{ settlementId: `stl-${(nth += 1)}`, amountMicros: micros }])).lease;
  const renew = (id: string, amountMicros: number) =>
    answer(
      renewLease(
        id,
        { requestId: `renewal-${(nth += 1)}`, amountMicros, ttlSeconds: 60 },
        { ...UNKNOWN, isPlanUsable: true, daily: limits, budgets: none },
      ),
    );
  const fits = (amountMicros: number) => {
    const asked = { requestId: 'call', agentId: 'planner', runId: 'run', planKey: null, ttlSeconds: 60, ...UNKNOWN };
    return answer(reserve({ ...asked, amountMicros, limits, dryRun: true })).decision === 'allowed';
  };
  return { lease, settle, renew, fits, giveBack: (id: string) => answer(returnLease(id)) };
}

describe('the amount of a lease', () => {
  it('lets one gateway alone spend 99 percent of a budget before its first denial', () => {
    const { lease, settle, renew } = limitedTo(1_000_000);
    const call = 1_000;
    const { id, micros } = lease(200_000, call);
    let left = micros!;
    let spent = 0;
    for (;;) {
      if (left < call) left = renew(id, spent + 200_000).leftMicros;
      if (left < call) break;
      left = settle(id, call).leftMicros;
      spent += call;
    }
    expect(spent).toBeGreaterThan(990_000);
  });

  it('leaves something for each further gateway, as long as a call fits', () => {
    const { lease, fits } = limitedTo(1_000_000);
    for (let gateways = 0; gateways < 16; gateways += 1) expect(lease(1_000_000, 1_000).micros).not.toBeNull();
    expect(fits(100_000)).toBe(true);
  });

  it('is what the call needs where its share is less, to the last micro', () => {
    const { lease } = limitedTo(100);
    expect([lease(100, 90).micros, lease(100, 11).micros, lease(100, 10).micros]).toEqual([90, null, 10]);
  });

  it('is free again once the lease is returned', () => {
    const { lease, giveBack, fits } = limitedTo(100);
    const { id } = lease(100, 100);
    expect(fits(1)).toBe(false);
    giveBack(id);
    expect(fits(100)).toBe(true);
  });

  it('leaves reservations without a limit what a workspace may hold in all', () => {
    const { lease, fits } = limitedTo(Number.MAX_SAFE_INTEGER);
    lease(Number.MAX_SAFE_INTEGER, 1);
    expect(fits(Number.MAX_SAFE_INTEGER / 4)).toBe(true);
  });
});
