import { isDeepStrictEqual } from 'node:util';
import type { BudgetedCall } from '@tollkeeper/contracts';
import type { ActiveBudget } from '../src/domain/active.budgets.ts';
import type { Lease, RenewalRequest, SettlementResult } from '../src/domain/lease.ts';
import type { DailyLimit, LimitRow } from '../src/domain/limit.ts';
import { budgetsOf, type OfBudgets } from './history.budgets.ts';
import type { Counted } from './reference.counts.ts';
import type { Fact, FactOf, History, LabelledLease, LeaseCount, Span } from './reference.facts.ts';
import type { ReferenceMeters } from './reference.meters.ts';

/** What applies to a renewal. `isOwn`: its key asked for the lease, and its plan is active. */
interface Renewing extends Pick<LabelledLease, 'ofAgent' | 'pinned'> {
  limits: readonly DailyLimit[];
  all: readonly ActiveBudget[];
  isOwn: boolean;
}

/** The history of all, which leases add facts to. */
interface LeaseHistory extends History {
  readonly facts: Fact[];
  readonly meters: ReferenceMeters;
  counts(limits: readonly DailyLimit[], budgets: OfBudgets): { row: LimitRow; counted: Counted }[];
  rows(limits: readonly DailyLimit[], budgets: OfBudgets): LimitRow[];
  /** Null if the request may be granted. */
  refusedFor(
    request: Pick<LabelledLease, 'pinned' | 'labels' | 'amountMicros'>,
    limits: readonly DailyLimit[],
    budgets: OfBudgets,
  ): unknown;
  callOf(request: LabelledLease): BudgetedCall;
  posted(settlementId: string): { micros: number; id: string | null; isLate?: boolean } | undefined;
}

/** The rules of leases, as queries over everything that happened. */
export class ReferenceLeases {
  private readonly history: LeaseHistory;

  constructor(history: LeaseHistory) {
    this.history = history;
  }

  granted(id: string): FactOf<'leased'> | undefined {
    return this.history.of('leased').find((fact) => fact.id === id);
  }

  count(lease: FactOf<'leased'>): LeaseCount {
    const { amountMicros, expiresAt } = lease;
    const count = { amountMicros, settledMicros: 0, leftMicros: amountMicros, aboveMicros: 0, lateMicros: 0 };
    const ends = { expiresAt, isReturned: false };
    for (const fact of this.history.facts) {
      if (!('id' in fact) || fact.id !== lease.id) continue;
      if (fact.kind === 'returned') ends.isReturned = true;
      if (fact.kind === 'renewed') {
        Object.assign(count, { amountMicros: fact.amountMicros });
        count.leftMicros = Math.max(0, fact.amountMicros - count.settledMicros);
        ends.expiresAt = fact.expiresAt;
      }
      if (fact.kind !== 'drawn') continue;
      if (fact.isLate) {
        count.lateMicros += fact.micros;
        continue;
      }
      count.aboveMicros += Math.max(0, fact.micros - count.leftMicros);
      count.leftMicros = Math.max(0, count.leftMicros - fact.micros);
      count.settledMicros += fact.micros;
    }
    return { ...count, ...ends };
  }

  isOpen(lease: FactOf<'leased'>): boolean {
    const { isReturned, expiresAt } = this.count(lease);
    return !isReturned && expiresAt > this.history.now;
  }

  find(id: string): Lease | undefined {
    const fact = this.granted(id);
    if (fact === undefined) return undefined;
    const { amountMicros, settledMicros, leftMicros, expiresAt, isReturned } = this.count(fact);
    const { requestId, agentId, planKey, model, provider, labels, ofAgent, pinned } = fact.request;
    const isOpen = this.isOpen(fact);
    return {
      ...{ id, requestId, agentId, planKey, model, provider, keyId: null, amountMicros, settledMicros, expiresAt },
      labels: { ...labels, ...ofAgent, ...pinned },
      leftMicros: isOpen ? leftMicros : 0,
      state: isReturned ? 'returned' : isOpen ? 'open' : 'expired',
      createdAt: fact.now,
      expiresInMs: isOpen ? expiresAt - this.history.now : 0,
    };
  }

  grant(id: string, request: LabelledLease, limits: readonly DailyLimit[], budgets: OfBudgets) {
    const { history } = this;
    const { now } = history;
    const known = this.granted(id);
    if (known !== undefined) {
      const fields = ['agentId', 'planKey', 'amountMicros', 'minMicros', 'ttlSeconds', 'model', 'provider'] as const;
      const isSame = fields.every((field) => known.request[field] === request[field]);
      if (!isSame || !isDeepStrictEqual(known.request.labels, request.labels)) return 'request_id_reused';
      if (now > known.now + 24 * 3_600_000) return 'request_id_reused';
      return { decision: 'allowed', lease: this.find(id)!, limits: history.rows(limits, budgets) };
    }
    const { amountMicros: wished, minMicros } = request;
    const refused = history.refusedFor({ ...request, amountMicros: minMicros }, limits, budgets);
    if (refused !== null) return refused;
    const { start: day, end, timezone } = history.dayOf(now);
    const amountMicros = Math.min(wished, Math.max(minMicros, this.share(limits, budgets, false)));
    const ends = [now + request.ttlSeconds * 1000, end];
    for (const [budget] of budgets) ends.push(this.endIn(budget, history.periods.at(budget, now, timezone)));
    history.periods.enter(budgets, now, timezone, now);
    const call = history.callOf(request);
    const amounts = { amountMicros, expiresAt: Math.min(...ends) };
    history.facts.push({ kind: 'leased', now, at: now, id, day, request, call, ...amounts });
    return { decision: 'allowed', lease: this.find(id)!, limits: history.rows(limits, budgets) };
  }

  /** When a lease ends that counts in the period, or in the step of a rolling one; or before a period that is ahead. */
  private endIn({ period }: ActiveBudget, current: Span | null): number {
    if (current === null) return period.kind === 'once' && period.start > this.history.now ? period.start : Infinity;
    return period.kind === 'rolling' ? current.start + period.seconds * 1000 : current.end;
  }

  /** What one more lease, or one of the open ones, may take of each limit, as the README says. */
  private share(limits: readonly DailyLimit[], budgets: OfBudgets, isOne: boolean): number {
    const shares = this.history.counts(limits, budgets).flatMap(({ row, counted }) => {
      if (row.budget?.denies === false) return [];
      return Math.floor(row.remainingMicros / (2 * (isOne ? Math.max(1, counted.leases) : counted.leases + 1)));
    });
    return Math.min(...shares, Number.MAX_SAFE_INTEGER);
  }

  renew(id: string, request: RenewalRequest, { limits, all, isOwn, ofAgent, pinned }: Renewing) {
    const { history } = this;
    const { now } = history;
    const fact = this.granted(id);
    if (fact === undefined) return 'not_found';
    const { requestId, amountMicros: wished, ttlSeconds } = request;
    const before = history.of('renewed').find((each) => each.id === id && each.requestId === requestId);
    if (before !== undefined) {
      const isSame = before.wished === wished && before.ttlSeconds === ttlSeconds;
      return isSame ? this.find(id)! : 'request_id_reused';
    }
    if (!this.isOpen(fact)) return 'conflict';
    const day = history.dayOf(now);
    const budgets = budgetsOf(all, fact.call, now);
    const current = budgets.map(([budget, value]) => ({
      ...{ budget, value },
      period: history.periods.at(budget, now, day.timezone),
    }));
    const isCurrent = current.every(
      ({ budget, value, period }) => period === null || history.meters.holds(fact, budget, value, period),
    );
    const isSameCall = isOwn && isDeepStrictEqual(fact.call.labels, { ...fact.call.labels, ...ofAgent, ...pinned });
    if (fact.day !== day.start || !isCurrent || !isSameCall) return this.find(id)!;
    const { settledMicros, leftMicros, amountMicros: granted, expiresAt } = this.count(fact);
    const more = Math.min(wished - settledMicros - leftMicros, this.share(limits, budgets, true));
    const ends = [now + ttlSeconds * 1000, day.end];
    for (const { budget, period } of current) ends.push(this.endIn(budget, period));
    const amountMicros = more <= 0 ? granted : Math.max(settledMicros, settledMicros + leftMicros) + more;
    const renewed = { amountMicros, expiresAt: Math.max(expiresAt, Math.min(...ends)) };
    history.facts.push({ kind: 'renewed', now, id, requestId, wished, ttlSeconds, ...renewed });
    return this.find(id)!;
  }

  settle(id: string, settlements: readonly (readonly [string, number])[], all: readonly ActiveBudget[]) {
    const fact = this.granted(id);
    if (fact === undefined) return 'not_found';
    const results = settlements.map(([settlementId, micros]): SettlementResult => {
      const before = this.history.posted(settlementId);
      if (before === undefined) return { settlementId, outcome: this.draw(fact, settlementId, micros, all), micros };
      const own = before.isLate === true ? 'late' : 'settled';
      const of = before.id === id ? own : 'conflict';
      return { settlementId, outcome: before.id === null ? 'unreserved' : of, micros: before.micros };
    });
    return { lease: this.find(id)!, results };
  }

  draw(fact: FactOf<'leased'>, settlementId: string, micros: number, all: readonly ActiveBudget[]) {
    const { history } = this;
    const isLate = !this.isOpen(fact);
    if (isLate) history.meters.enter(all, fact.call, fact.at);
    history.facts.push({ kind: 'drawn', now: history.now, id: fact.id, settlementId, micros, isLate });
    return isLate ? 'late' : 'settled';
  }

  giveBack(id: string) {
    const fact = this.granted(id);
    if (fact === undefined) return 'not_found';
    if (this.isOpen(fact)) this.history.facts.push({ kind: 'returned', now: this.history.now, id });
    return this.find(id)!;
  }

  get(id: string) {
    return this.find(id) ?? 'not_found';
  }
}
