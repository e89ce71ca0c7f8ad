import type { BudgetScope } from '@tollkeeper/contracts';
import type { DailyLimit, Limit, LimitRow, OverspendCause } from '../src/domain/limit.ts';
import type { FactOf, History, Span } from './reference.facts.ts';

/** An account of a day, computed from all facts. */
export interface Counted {
  posted: number;
  held: number;
  open: number;
  leases: number;
  released: number;
  expired: number;
  /** The part of the posted spend that holds covered. */
  within: number;
  overspend: Record<OverspendCause, number>;
}

export const NOTHING: Counted = {
  ...{ posted: 0, held: 0, open: 0, leases: 0, released: 0, expired: 0, within: 0 },
  overspend: { above_hold: 0, late: 0, unreserved: 0 },
};

type Call = Pick<FactOf<'unreserved'>, 'agentId' | 'planKey'>;
export type AccountName = Pick<DailyLimit, 'scope' | 'scopeId'>;

const COUNTS_IN: Record<BudgetScope, (call: Call, scopeId: string) => boolean> = {
  workspace: () => true,
  agent: ({ agentId }, scopeId) => agentId === scopeId,
  plan: ({ planKey }, scopeId) => planKey === scopeId,
};

/** Whether a call counts in the account. */
export function countsIn(call: Call, { scope, scopeId }: AccountName): boolean {
  return COUNTS_IN[scope](call, scopeId);
}

/** The state of an account on a day. */
export function countDay(history: History, day: number, name: AccountName): Counted {
  const isCounted = (fact: FactOf<'granted' | 'leased' | 'unreserved' | 'corrected'>) =>
    fact.day === day && countsIn('request' in fact ? fact.request : fact, name);
  const overspend = { above_hold: 0, late: 0, unreserved: 0 };
  const counted = { posted: 0, held: 0, open: 0, leases: 0, released: 0, expired: 0, within: 0, overspend };
  for (const grant of history.of('granted').filter(isCounted)) {
    const { state, amountMicros } = history.find(grant.id)!;
    const settled = history.of('settled').find(({ id }) => id === grant.id);
    if (state === 'held') counted.held += amountMicros;
    if (state === 'held') counted.open += 1;
    if (state === 'released') counted.released += 1;
    if (state === 'expired' || settled?.isLate === true) counted.expired += 1;
    if (settled === undefined || settled.counted) continue;
    counted.posted += settled.micros;
    if (settled.isLate) {
      overspend.late += settled.micros;
    } else {
      counted.within += Math.min(settled.micros, amountMicros);
      overspend.above_hold += Math.max(0, settled.micros - amountMicros);
    }
  }
  for (const lease of history.of('leased').filter(isCounted)) {
    const { leftMicros, settledMicros, aboveMicros, lateMicros } = history.leases.count(lease);
    const isOpen = history.leases.isOpen(lease);
    if (isOpen) counted.held += leftMicros;
    if (isOpen) counted.leases += 1;
    counted.posted += settledMicros + lateMicros;
    counted.within += settledMicros - aboveMicros;
    overspend.above_hold += aboveMicros;
    overspend.late += lateMicros;
  }
  for (const spend of history.of('unreserved').filter(isCounted)) {
    counted.posted += spend.micros;
    overspend.unreserved += spend.micros;
  }
  for (const { micros } of history.of('corrected').filter(isCounted)) {
    counted.posted += micros;
    if (micros > 0) overspend.unreserved += micros;
    else counted.within += micros;
  }
  return counted;
}

/** A limit with what it counts. */
export function rowOf(
  limit: Limit,
  bound: number,
  period: Span,
  resetsAt: number,
  { posted: spentMicros, held: heldMicros }: Counted,
): LimitRow {
  const remainingMicros = Math.max(0, bound - Math.max(0, spentMicros) - heldMicros);
  return {
    ...limit,
    period,
    spentMicros: Math.max(0, spentMicros),
    heldMicros,
    remainingMicros,
    resetsAt,
    state: 'exact',
  };
}
