import type { Labels } from '@tollkeeper/contracts';
import type { ActiveBudgets } from '../src/domain/active.budgets.ts';
import { findPeriod } from '../src/domain/budget.period.ts';
import { postAny } from '../src/domain/correct.ts';
import { findDay } from '../src/domain/day.ts';
import type { Ask } from '../src/domain/decision.ts';
import { extend, read, release } from '../src/domain/hold.ts';
import { reservationIdOf } from '../src/domain/journal.ts';
import type { Ledger } from '../src/domain/ledger.ts';
import { withRaises } from '../src/domain/limit.rows.ts';
import type { ReservationRequest } from '../src/domain/reservation.ts';
import { reserve } from '../src/domain/reserve.ts';
import { post, settle } from '../src/domain/settle.ts';
import { findReached, markReported, type Reaching } from '../src/domain/threshold.ts';
import { answering, picking, viewOfAll } from './history.answers.ts';
import type { HistoryDashboard } from './history.dashboard.ts';
import { HistoryLeases } from './history.leases.ts';
import { ACCOUNTS, AGENTS, callOf, type HistoryLimits, LABELS, PLANS, TENANT } from './history.limits.ts';
import type { HistoryDeps, Step } from './history.step.ts';
import { countsIn } from './reference.counts.ts';
import type { Reference } from './reference.ts';

const SECOND = 1_000;
const HOUR = 3_600 * SECOND;
/** Labels of keys and agents, which change while requests are repeated. */
const GIVEN: readonly Labels[] = [{}, {}, {}, { env: 'prod' }, { team: 'growth', user: 'u' }];
const KINDS = [
  ...(['reserve', 'reserve', 'reserve', 'reserve', 'settle', 'settle', 'release', 'extend'] as const),
  ...(['post', 'post', 'correct', 'get', 'view', 'report'] as const),
  ...(['lease', 'lease', 'lease', 'lease', 'lease', 'lease'] as const),
];

/** Random steps of one history. They share a few requests, reservations and settlements, so that they meet. */
export class HistorySteps {
  private readonly contents = new Map<string, Omit<ReservationRequest, 'requestId'>>();
  private readonly leases: HistoryLeases;
  private readonly reference: Reference;
  private readonly dashboard: HistoryDashboard;
  private readonly limits: HistoryLimits;
  private readonly next: (below: number) => number;
  private readonly pick: ReturnType<typeof picking>;

  constructor(deps: HistoryDeps) {
    const { reference, dashboard, limits, next } = deps;
    this.leases = new HistoryLeases(deps);
    this.reference = reference;
    this.dashboard = dashboard;
    this.limits = limits;
    this.next = next;
    this.pick = picking(next);
  }

  any(): Step {
    switch (this.pick(KINDS)) {
      case 'reserve':
        return this.reserve();
      case 'settle':
        return this.settle();
      case 'release':
        return this.release();
      case 'extend':
        return this.extend();
      case 'post':
        return this.post();
      case 'correct':
        return this.correct();
      case 'get':
        return this.get();
      case 'view':
        return this.view();
      case 'report':
        return this.report();
      case 'lease':
        return this.leases.any();
    }
  }

  private reserve(): Step {
    const requestId = this.requestId();
    const content = this.next(8) === 0 ? this.content() : (this.contents.get(requestId) ?? this.content());
    if (!this.contents.has(requestId)) this.contents.set(requestId, content);
    const request = { requestId, ...content };
    const dryRun = this.next(6) === 0;
    const given = { pinned: this.pick(GIVEN), ofAgent: this.pick(GIVEN) };
    const daily = this.limits.dailyLimits(ACCOUNTS.filter((account) => countsIn(content, account)));
    const call = callOf({ ...content, labels: { ...content.labels, ...given.ofAgent, ...given.pinned } });
    const budgets = this.limits.budgetsOf(call);
    const { now } = this.reference;
    const allOf = (known: ActiveBudgets) => [...withRaises(daily, known.raises), ...known.limitsFor(call, now)];
    const id = reservationIdOf(TENANT, requestId);
    return {
      what: `reserve ${JSON.stringify({ ...request, ...given, limits: allOf(this.limits.active), dryRun })}`,
      ask: (known) => reserve({ ...request, ...given, keyId: null, limits: allOf(known), dryRun }, known),
      expected: () => this.reference.reserve(id, { ...request, ...given }, daily, budgets, dryRun),
    };
  }

  private content(): Omit<ReservationRequest, 'requestId'> {
    return {
      agentId: this.pick(AGENTS),
      runId: `run-${this.next(2)}`,
      planKey: this.pick([null, ...PLANS]),
      amountMicros: this.next(80),
      ttlSeconds: this.pick([10, 60, 600, 3600]),
      model: this.pick([null, 'large-1']),
      provider: null,
      labels: this.pick(LABELS),
    };
  }

  private settle(): Step {
    const { dashboard, limits, reference } = this;
    const [id, settlementId, amountMicros] = [this.reservationId(), this.settlementId(), this.next(120)];
    const settled = () => reference.settle(id, settlementId, amountMicros, limits.active.all);
    return {
      what: `settle ${id} ${settlementId} ${amountMicros}`,
      ask: (known) => settle(id, { settlementId, amountMicros }, known),
      expected: () => dashboard.settles(id, settlementId, settled),
    };
  }

  private release(): Step {
    const id = this.reservationId();
    return { what: `release ${id}`, ask: () => release(id), expected: () => this.reference.release(id) };
  }

  private extend(): Step {
    const [id, ttlSeconds] = [this.reservationId(), this.pick([10, 600, 3600])];
    return {
      what: `extend ${id} ${ttlSeconds}`,
      ask: () => extend(id, ttlSeconds),
      expected: () => this.reference.extend(id, ttlSeconds),
    };
  }

  private post(): Step {
    const { reference, limits } = this;
    const { now } = reference;
    const reservationId = this.next(2) === 0 ? null : this.reservationId();
    const requestId = this.next(2) === 0 ? undefined : this.requestId();
    const leaseId = this.next(4) === 0 ? this.leases.id() : undefined;
    const isOfGrant = reservationId !== null || requestId !== undefined || leaseId !== undefined;
    const agos = [0, 0, 0, -240 * SECOND, 60 * SECOND, 5 * HOUR, 26 * HOUR, 100 * HOUR];
    // An event that settles a reservation is not older than the grant, but for the clocks.
    const ago = this.pick(isOfGrant ? agos.slice(0, 5) : agos);
    const spend = {
      // Nothing recognizes a settlement of four days ago.
      settlementId: ago > 90 * HOUR ? `settlement-old-${limits.ticks}` : this.settlementId(),
      ...{ reservationId, leaseId, requestId },
      ...{ agentId: this.pick(AGENTS), planKey: this.pick([null, ...PLANS]), micros: this.next(60), at: now - ago },
      ...{ model: this.pick([null, 'large-1']), labels: this.pick(LABELS) },
    };
    const call = callOf(spend);
    this.dashboard.add({ ...spend, call });
    return {
      what: `post ${JSON.stringify(spend)}`,
      ask: (known) => answering(post(spend, now, known), ({ outcome }) => outcome),
      expected: () => reference.post({ ...spend, call }, limits.active.all),
    };
  }

  private correct(): Step {
    const { reference, limits } = this;
    const { now } = reference;
    const settlement = this.dashboard.any();
    if (settlement === undefined) return this.any();
    const correctedAt = now - this.pick([0, 0, 0, 60 * SECOND, 100 * HOUR]);
    const spend = { ...settlement, correctedAt, micros: this.next(80) - Math.min(40, settlement.micros) };
    this.dashboard.add(spend);
    const { model, labels } = spend.call;
    return {
      what: `correct ${JSON.stringify(spend)}`,
      ask: (known) => answering(postAny({ ...spend, model, labels }, now, known), ({ outcome }) => outcome),
      expected: () => reference.take(spend, limits.active.all),
    };
  }

  private get(): Step {
    const id = this.reservationId();
    return { what: `get ${id}`, ask: () => read(id), expected: () => this.reference.get(id) };
  }

  private view(): Step {
    const [daily, budgets] = [this.limits.dailyLimits(ACCOUNTS), this.limits.allBudgets()];
    const others = this.limits.allBudgetLimits();
    return {
      what: 'view',
      ask: (known) => viewOfAll([...withRaises(daily, known.raises), ...others], known),
      expected: () => this.reference.view(daily, budgets),
    };
  }

  private report(): Step {
    const [daily, budgets] = [this.limits.dailyLimits(ACCOUNTS), this.limits.allBudgets()];
    const ofBudgets = this.limits.allBudgetLimits();
    const reaching = (ledger: Ledger, now: number): Reaching[] => {
      const { start, timezone } = findDay(ledger, now)!;
      const periods = ofBudgets.flatMap((limit) => {
        const period = findPeriod(ledger, limit.budget, now, { timezone, now });
        return period === null ? [] : [{ limit, start: period.start }];
      });
      return [...daily.map((limit) => ({ limit, start })), ...periods];
    };
    // One ask, so that it is decided in its turn and on the newest ledger.
    const ask: Ask<unknown> = {
      decide(ledger, context) {
        if (!context.isNewest) return { needs: { newest: true } };
        const reached = findReached(reaching(ledger, context.now)).decide(ledger, context);
        if (!('ops' in reached)) return reached;
        const marked = markReported(reached.answer).decide(ledger, context);
        return 'ops' in marked ? { ops: marked.ops, answer: reached.answer } : marked;
      },
    };
    return {
      what: 'report',
      ask: (known) => ({ ...ask, budgets: known }),
      expected: () => this.reference.report(daily, budgets),
    };
  }

  private requestId(): string {
    return `request-${this.next(7)}`;
  }

  private reservationId(): string {
    return reservationIdOf(TENANT, this.requestId());
  }

  private settlementId(): string {
    return `settlement-${this.next(9)}`;
  }
}
