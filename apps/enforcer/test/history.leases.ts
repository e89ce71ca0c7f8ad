import type { Labels } from '@tollkeeper/contracts';
import type { ActiveBudgets } from '../src/domain/active.budgets.ts';
import { leaseIdOf } from '../src/domain/journal.ts';
import { grantLease } from '../src/domain/lease.grant.ts';
import { readLease, renewLease, returnLease } from '../src/domain/lease.hold.ts';
import { settleLease } from '../src/domain/lease.settle.ts';
import type { LeaseRequest } from '../src/domain/lease.ts';
import { withRaises } from '../src/domain/limit.rows.ts';
import { picking } from './history.answers.ts';
import { ACCOUNTS, AGENTS, callOf, LABELS, PLANS, TENANT } from './history.limits.ts';
import type { HistoryDeps, Step } from './history.step.ts';
import { countsIn } from './reference.counts.ts';

const GIVEN: readonly Labels[] = [{}, {}, {}, { env: 'prod' }];
const KINDS = ['grant', 'grant', 'settle', 'settle', 'settle', 'renew', 'renew', 'giveBack', 'get', 'die'] as const;

/** Random steps of gateways with leases. They share requests, leases and settlements with all other steps. */
export class HistoryLeases {
  private readonly contents = new Map<string, Omit<LeaseRequest, 'requestId' | 'runId'>>();
  private readonly deps: HistoryDeps;
  private readonly pick: ReturnType<typeof picking>;

  constructor(deps: HistoryDeps) {
    this.deps = deps;
    this.pick = picking(deps.next);
  }

  any(): Step {
    switch (this.pick(KINDS)) {
      case 'grant':
        return this.grant();
      case 'settle':
        return this.settle();
      case 'renew':
        return this.renew();
      case 'giveBack':
        return this.giveBack();
      case 'get':
        return this.get();
      case 'die':
        return this.die();
    }
  }

  id(): string {
    return leaseIdOf(TENANT, this.requestId());
  }

  /** Mostly that of an open lease, if there is one. */
  private openId(): string {
    const { reference, next } = this.deps;
    const open = reference.of('leased').filter((lease) => reference.leases.isOpen(lease));
    return open.length > 0 && next(4) > 0 ? this.pick(open).id : this.id();
  }

  private requestId(): string {
    return `lease-${this.deps.next(4)}`;
  }

  private grant(): Step {
    const { limits, reference, next } = this.deps;
    const requestId = this.requestId();
    const content = next(8) === 0 ? this.content() : (this.contents.get(requestId) ?? this.content());
    if (!this.contents.has(requestId)) this.contents.set(requestId, content);
    const given = { pinned: this.pick(GIVEN), ofAgent: this.pick(GIVEN) };
    const request = { requestId, ...content, ...given };
    const daily = limits.dailyLimits(ACCOUNTS.filter((account) => countsIn(content, account)));
    const call = callOf({ ...content, labels: { ...content.labels, ...given.ofAgent, ...given.pinned } });
    const budgets = limits.budgetsOf(call);
    const { now } = reference;
    const allOf = (known: ActiveBudgets) => [...withRaises(daily, known.raises), ...known.limitsFor(call, now)];
    return {
      what: `lease ${JSON.stringify({ ...request, limits: allOf(limits.active) })}`,
      ask: (known) => grantLease({ ...request, runId: null, keyId: null, limits: allOf(known) }, known),
      expected: () => reference.leases.grant(leaseIdOf(TENANT, requestId), request, daily, budgets),
    };
  }

  private content(): Omit<LeaseRequest, 'requestId' | 'runId'> {
    const { next } = this.deps;
    const minMicros = next(20);
    return {
      agentId: this.pick(AGENTS),
      planKey: this.pick([null, ...PLANS]),
      amountMicros: minMicros + next(120),
      minMicros,
      ttlSeconds: this.pick([10, 60, 600]),
      model: this.pick([null, 'large-1']),
      provider: null,
      labels: this.pick(LABELS),
    };
  }

  private settle(): Step {
    const { dashboard, limits, reference, next } = this.deps;
    const id = this.openId();
    const settlements = Array.from({ length: 1 + next(3) }, () =>
      next(4) === 0 ? this.lost(id) : ([`settlement-${next(15)}`, next(50)] as const),
    );
    const drawn = settlements.map(([settlementId, amountMicros]) => ({ settlementId, amountMicros }));
    return {
      what: `settle ${id} ${JSON.stringify(settlements)}`,
      ask: (known) => settleLease(id, drawn, known),
      expected: () => dashboard.draws(id, () => reference.leases.settle(id, settlements, limits.active.all)),
    };
  }

  /**
   * A settlement whose replica may die, and which its gateway may repeat. No other call has its id, because the log
   * would have this one first, and so would the ledger.
   */
  private lost(id: string): readonly [settlementId: string, micros: number] {
    const nth = this.deps.next(3);
    return [`lost-${nth}-${id}`, 11 * (nth + 1)];
  }

  /** The replica dies once the events are in the log: the ledger learns of them when a budget is filled. */
  private die(): Step {
    const { dashboard, reference } = this.deps;
    const id = this.openId();
    const [settlementId, micros] = this.lost(id);
    return {
      what: `a replica dies that settles ${settlementId} ${micros} from ${id}`,
      ask: () => readLease(id),
      expected: () => {
        const lease = reference.leases.granted(id);
        if (lease === undefined) return 'not_found';
        const { request, call } = lease;
        const { agentId, planKey } = request;
        dashboard.add({ settlementId, reservationId: id, agentId, planKey, call, micros, at: reference.now });
        return reference.leases.get(id);
      },
    };
  }

  private renew(): Step {
    const { limits, reference, next } = this.deps;
    const id = this.openId();
    const request = {
      requestId: `renewal-${next(4)}`,
      amountMicros: this.pick([0, 60, 150, 300]),
      ttlSeconds: this.pick([10, 600]),
    };
    const lease = reference.leases.granted(id);
    const given = { pinned: this.pick(GIVEN), ofAgent: this.pick(GIVEN) };
    const [keyId, isPlanUsable] = [next(8) === 0 ? 'another-key' : null, next(8) > 0];
    // An earlier step of the same batch may grant it. All limits then, so that none is passed.
    const daily = ACCOUNTS.filter((account) => lease === undefined || countsIn(lease.request, account));
    const dailyLimits = limits.dailyLimits(daily);
    return {
      what: `renew ${id} ${JSON.stringify({ ...request, ...given, keyId, isPlanUsable })}`,
      ask: (known) => renewLease(id, request, { ...given, keyId, isPlanUsable, daily: dailyLimits, budgets: known }),
      expected: () => {
        const isOwn = keyId === null && isPlanUsable;
        return reference.leases.renew(id, request, { ...given, isOwn, limits: dailyLimits, all: limits.active.all });
      },
    };
  }

  private giveBack(): Step {
    const id = this.id();
    return {
      what: `return ${id}`,
      ask: () => returnLease(id),
      expected: () => this.deps.reference.leases.giveBack(id),
    };
  }

  private get(): Step {
    const id = this.id();
    return { what: `get ${id}`, ask: () => readLease(id), expected: () => this.deps.reference.leases.get(id) };
  }
}
