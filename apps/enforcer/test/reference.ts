import { isDeepStrictEqual } from 'node:util';
import { type BudgetedCall, dailyBudgetId } from '@tollkeeper/contracts';
import type { ActiveBudget } from '../src/domain/active.budgets.ts';
import type { DailyLimit, LimitRow } from '../src/domain/limit.ts';
import type { Raise } from '../src/domain/raise.ts';
import type { Reservation } from '../src/domain/reservation.ts';
import { countDay, type Counted, NOTHING, rowOf } from './reference.counts.ts';
import type { Fact, FactOf, History, LabelledLease, LabelledRequest, Span } from './reference.facts.ts';
import { ReferenceLeases } from './reference.leases.ts';
import { ReferenceMeters } from './reference.meters.ts';
import { budgetsOf, type CountedIn, limitOf, type OfBudgets, ReferencePeriods } from './history.budgets.ts';

/** The data of an event `spend.settled`, or of `spend.repriced` if it has a time of correction. */
export interface Spend {
  correctedAt?: number;
  settlementId: string;
  reservationId: string | null;
  leaseId?: string | undefined;
  requestId?: string | undefined;
  agentId: string;
  planKey: string | null;
  call: BudgetedCall;
  micros: number;
  at: number;
}

/**
 * The rules of enforcement as queries over a list of everything that ever happened. Each query scans the whole list.
 * There is no other state and no ledger, so it shares no defects with the ledger.
 */
export class Reference implements History {
  readonly facts: Fact[] = [];
  readonly days: (Span & { timezone: string })[] = [];
  readonly reported: { start: number; scope: string; scopeId: string; percent: number }[] = [];
  readonly told: (CountedIn & { percent: number })[] = [];
  readonly periods = new ReferencePeriods();
  readonly meters = new ReferenceMeters(this);
  readonly leases = new ReferenceLeases(this);
  /** Each raise that was ever granted. */
  readonly raises: Raise[] = [];
  now = 0;
  timezone = 'UTC';

  /** A day that has begun stays as it is. A changed zone determines where the next one ends. */
  dayOf(at: number): Span & { timezone: string } {
    const open = this.days.find(({ start, end }) => start <= at && at < end);
    if (open !== undefined) return open;
    let { start, end } = localDay(at, this.timezone);
    for (const other of this.days) {
      if (other.end <= at) start = Math.max(start, other.end);
      if (other.start > at) end = Math.min(end, other.start);
    }
    const day = { start, end, timezone: this.timezone };
    this.days.push(day);
    this.periods.begin(day.start);
    return day;
  }

  of<K extends Fact['kind']>(kind: K): FactOf<K>[] {
    return this.facts.filter((fact): fact is FactOf<K> => fact.kind === kind);
  }

  /** The current reservation; undefined if it was never granted. */
  find(id: string): Reservation | undefined {
    const grant = this.of('granted').find((fact) => fact.id === id);
    if (grant === undefined) return undefined;
    const { ttlSeconds, pinned, ofAgent, labels, ...asked } = grant.request;
    const extended = this.of('extended').findLast((fact) => fact.id === id);
    const settled = this.of('settled').find((fact) => fact.id === id);
    const isReleased = this.of('released').some((fact) => fact.id === id);
    const expiresAt = extended?.expiresAt ?? grant.now + ttlSeconds * 1000;
    const open = expiresAt <= this.now ? 'expired' : 'held';
    return {
      ...asked,
      id,
      keyId: null,
      labels: { ...labels, ...ofAgent, ...pinned },
      createdAt: grant.now,
      expiresAt,
      state: settled !== undefined ? 'settled' : isReleased ? 'released' : open,
      settledMicros: settled?.micros ?? null,
      settlementId: settled?.settlementId ?? null,
    };
  }

  /** The limits with what they count now, in their order; without budgets that are for no time now. */
  counts(limits: readonly DailyLimit[], budgets: OfBudgets): { row: LimitRow; counted: Counted }[] {
    const day = this.dayOf(this.now);
    const daily = limits.map((limit) => {
      const period = { start: day.start, end: day.end };
      const counted = countDay(this, day.start, limit);
      const raised = this.raised(dailyBudgetId(limit.scope, limit.scopeId), '');
      const bound = limit.limitMicros + (raised?.micros ?? 0);
      return { row: { ...rowOf(limit, bound, period, day.end, counted), ...(raised && { raised }) }, counted };
    });
    const others = budgets.flatMap(([budget, value]) => {
      const current = this.periods.at(budget, this.now, day.timezone);
      if (current === null) return [];
      const { oldest, ...counts } = this.meters.count(budget, value, current);
      const counted = { ...NOTHING, ...counts };
      const { start, end } = current;
      const length = budget.period.kind === 'rolling' ? budget.period.seconds * 1000 : end - start;
      const raised = this.raised(budget.id, value);
      const bound = (budget.denies ? budget.grantableMicros : budget.limitMicros) + (raised?.micros ?? 0);
      return {
        row: {
          ...rowOf(limitOf(budget, value), bound, { start: end - length, end }, oldest + length, counted),
          state: this.meters.stateOf(budget),
          ...(raised && { raised }),
        },
        counted,
      };
    });
    return [...daily, ...others];
  }

  /** What raises add to a limit now, and when the first of them ends. */
  raised(budgetId: string, value: string): { micros: number; until: number } | undefined {
    const found = this.raises.filter(
      (raise) => raise.budgetId === budgetId && raise.value === value && raise.until > this.now,
    );
    if (found.length === 0) return undefined;
    const micros = found.map(({ extraMicros }) => extraMicros).reduce((sum, each) => sum + each);
    return { micros, until: Math.min(...found.map(({ until }) => until)) };
  }

  /** The ledger begins the meters of these budgets, and forgets all others. */
  agree(all: readonly ActiveBudget[]): void {
    const gone = this.meters.agree(all);
    for (const told of this.told.filter(({ meter }) => gone.includes(meter)))
      this.told.splice(this.told.indexOf(told), 1);
  }

  rows(limits: readonly DailyLimit[], budgets: OfBudgets): LimitRow[] {
    return this.counts(limits, budgets).map(({ row }) => row);
  }

  view(limits: readonly DailyLimit[], budgets: OfBudgets) {
    const { start, end, timezone } = this.dayOf(this.now);
    const items = this.counts(limits, budgets).map(({ row, counted }) => {
      const { open, leases, released, expired, overspend } = counted;
      // Of earlier reservations, a budget does not know how they ended.
      const ended = row.budget === undefined && { released, expired, overspendMicros: overspend };
      return { ...row, openReservations: open, openLeases: leases, ...ended };
    });
    return { day: { start, end, timezone }, items };
  }

  /** `id` is the id of the reservation if it is granted. */
  reserve(id: string, request: LabelledRequest, limits: readonly DailyLimit[], budgets: OfBudgets, dryRun: boolean) {
    const known = this.of('granted').find((fact) => fact.id === id);
    if (known !== undefined) {
      const fields = ['agentId', 'runId', 'planKey', 'amountMicros', 'ttlSeconds', 'model', 'provider'] as const;
      if (fields.some((field) => known.request[field] !== request[field])) return 'request_id_reused';
      if (!isDeepStrictEqual(known.request.labels, request.labels)) return 'request_id_reused';
      if (this.now > known.now + 24 * 3_600_000) return 'request_id_reused';
      return { decision: 'allowed', reservation: this.find(id)!, limits: this.rows(limits, budgets) };
    }
    const refused = this.refusedFor(request, limits, budgets);
    if (refused !== null) return refused;
    const rows = this.rows(limits, budgets);
    if (dryRun) return { decision: 'allowed', reservation: null, limits: rows };
    const { start: day, timezone } = this.dayOf(this.now);
    this.periods.enter(budgets, this.now, timezone, this.now);
    const call = this.callOf(request);
    this.facts.push({ kind: 'granted', now: this.now, at: this.now, id, day, request, call });
    return { decision: 'allowed', reservation: this.find(id)!, limits: this.rows(limits, budgets) };
  }

  callOf({ agentId: agent, planKey: plan, model, ...request }: LabelledRequest | LabelledLease): BudgetedCall {
    const labels = { ...request.labels, ...request.ofAgent, ...request.pinned };
    return { agent, plan, model, provider: null, key: null, labels };
  }

  /** Why a new request is not granted; null if it is. */
  refusedFor(
    request: Pick<LabelledRequest, 'pinned' | 'labels' | 'amountMicros'>,
    limits: readonly DailyLimit[],
    budgets: OfBudgets,
  ) {
    const pinned = new Map(Object.entries(request.pinned));
    const isOther = ([name, value]: [string, string]) => pinned.has(name) && pinned.get(name) !== value;
    if (Object.entries(request.labels).some(isOther)) return 'label_pinned';
    const rows = this.rows(limits, budgets);
    const [least] = rows
      .filter(
        ({ budget, limitMicros, spentMicros, heldMicros, raised: { micros: extra } = { micros: 0 } }) =>
          budget?.denies !== false &&
          (limitMicros + extra === 0 ||
            spentMicros + heldMicros + request.amountMicros > (budget?.grantableMicros ?? limitMicros) + extra),
      )
      .sort((a, b) => a.remainingMicros - b.remainingMicros);
    if (least !== undefined) {
      return { decision: 'denied', denial: { ...least, requestedMicros: request.amountMicros }, limits: rows };
    }
    return null;
  }

  get(id: string) {
    return this.find(id) ?? 'not_found';
  }

  /** The amount posted under the settlement, and its reservation if any. */
  posted(settlementId: string): { micros: number; id: string | null; isLate?: boolean } | undefined {
    const settled = this.of('settled').find((fact) => fact.settlementId === settlementId && !fact.counted);
    const drawn = this.of('drawn').find((fact) => fact.settlementId === settlementId);
    const counted = settled ?? drawn;
    if (counted !== undefined) return counted;
    const spend = this.of('unreserved').find((fact) => fact.settlementId === settlementId);
    return spend === undefined ? undefined : { micros: spend.micros, id: null };
  }

  private settleOpen(
    id: string,
    settlementId: string,
    micros: number,
    isLate: boolean,
    all: readonly ActiveBudget[],
  ): void {
    const before = this.posted(settlementId);
    const fact = { kind: 'settled', now: this.now, id, settlementId, isLate } as const;
    const { call, at } = this.of('granted').find((grant) => grant.id === id)!;
    if (isLate) this.meters.enter(all, call, at);
    this.facts.push({ ...fact, micros: before?.micros ?? micros, counted: before !== undefined });
  }

  settle(id: string, settlementId: string, micros: number, all: readonly ActiveBudget[]) {
    const found = this.find(id);
    if (found === undefined) return 'not_found';
    if (found.state === 'released') return 'conflict';
    if (found.state === 'settled') return found.settlementId === settlementId ? found : 'conflict';
    const before = this.posted(settlementId);
    if (before !== undefined && before.id !== null) return 'conflict';
    this.settleOpen(id, settlementId, micros, found.state === 'expired', all);
    return this.find(id)!;
  }

  release(id: string) {
    const found = this.find(id);
    if (found === undefined) return 'not_found';
    if (found.state === 'settled') return 'conflict';
    if (found.state === 'held') this.facts.push({ kind: 'released', now: this.now, id });
    return this.find(id)!;
  }

  extend(id: string, ttlSeconds: number) {
    const found = this.find(id);
    if (found === undefined) return 'not_found';
    if (found.state !== 'held') return 'conflict';
    this.facts.push({ kind: 'extended', now: this.now, id, expiresAt: this.now + ttlSeconds * 1000 });
    return this.find(id)!;
  }

  /** The reservation that the spend names by its id, else by its request. */
  private named({ reservationId, requestId, at }: Spend): Reservation | undefined {
    const byId = reservationId === null ? undefined : this.find(reservationId);
    const requested = this.of('granted').find(
      ({ request, now }) => request.requestId === requestId && at <= now + 24 * 3_600_000,
    );
    return byId ?? (requested && this.find(requested.id));
  }

  post(spend: Spend, all: readonly ActiveBudget[]) {
    const { settlementId, agentId, planKey, micros, at, call } = spend;
    const isTooOld = at < this.now - 3 * 86_400_000;
    const day = isTooOld ? undefined : this.dayOf(at);
    const before = this.posted(settlementId);
    const lease = this.leases.granted(spend.reservationId ?? spend.leaseId ?? '');
    if (lease !== undefined) {
      return before === undefined ? this.leases.draw(lease, settlementId, micros, all) : 'duplicate';
    }
    const found = this.named(spend);
    const isOpen = found?.state === 'held' || found?.state === 'expired';
    if (isOpen && (before === undefined || before.id === null)) {
      this.settleOpen(found.id, settlementId, micros, found.state === 'expired', all);
      if (before !== undefined) return 'duplicate';
      return found.state === 'expired' ? 'late' : 'settled';
    }
    if (before !== undefined) return 'duplicate';
    if (day === undefined) {
      return this.tooOld(spend);
    }
    this.periods.enter(budgetsOf(all, call, at), at, day.timezone, this.now);
    const fact = { now: this.now, settlementId, micros, day: day.start, agentId, planKey, call, at } as const;
    this.facts.push({ kind: 'unreserved', ...fact });
    return 'unreserved';
  }

  private tooOld({ settlementId, micros, call, at }: Spend) {
    const isKnown = this.of('too old').some((fact) => fact.settlementId === settlementId);
    if (!isKnown) this.facts.push({ kind: 'too old', now: this.now, settlementId, micros, call, at });
    return 'too_old';
  }

  /** Posts or corrects. */
  take(spend: Spend, all: readonly ActiveBudget[]) {
    const { correctedAt } = spend;
    return correctedAt === undefined ? this.post(spend, all) : this.correct({ ...spend, correctedAt }, all);
  }

  private correct(spend: Spend & { correctedAt: number }, all: readonly ActiveBudget[]) {
    const { settlementId, correctedAt, micros } = spend;
    const isSame = (fact: FactOf<'corrected'>) =>
      fact.settlementId === settlementId && fact.correctedAt === correctedAt;
    if (this.of('corrected').some(isSame)) return 'duplicate';
    if (correctedAt < this.now - 3 * 86_400_000)
      return this.tooOld({ ...spend, settlementId: `${settlementId}@${correctedAt}` });
    const settled = this.of('settled').find((fact) => fact.settlementId === settlementId && !fact.counted);
    const drawn = this.of('drawn').find((fact) => fact.settlementId === settlementId);
    const grant =
      (settled && this.of('granted').find(({ id }) => id === settled.id)) ?? (drawn && this.leases.granted(drawn.id));
    const { call, at } = grant ?? spend;
    const { agentId, planKey } = grant?.request ?? spend;
    const day = grant?.day ?? this.days.find(({ start, end }) => start <= at && at < end)?.start ?? at;
    this.periods.enter(budgetsOf(all, call, at), at, this.dayOf(this.now).timezone, this.now);
    const fact = { now: this.now, settlementId, correctedAt, micros, day, agentId, planKey, call, at } as const;
    this.facts.push({ kind: 'corrected', ...fact });
    return 'corrected';
  }

  /** Reports the unreported thresholds of the running day, and of the running periods of budgets. */
  report(limits: readonly DailyLimit[], budgets: OfBudgets) {
    const { start, end, timezone } = this.dayOf(this.now);
    const daily = limits.flatMap((limit) => {
      const { posted } = countDay(this, start, limit);
      return [50, 80, 100]
        .filter((percent) => posted > 0 && posted * 100 >= limit.limitMicros * percent)
        .map((percent) => ({ ...limit, start, period: { start, end }, percent, spentMicros: posted }));
    });
    const isNew = (a: (typeof daily)[number]) =>
      !this.reported.some((b) =>
        (['start', 'scope', 'scopeId', 'percent'] as const).every((field) => a[field] === b[field]),
      );
    const reported = daily.filter(isNew);
    this.reported.push(...reported);
    const told = budgets.flatMap(([budget, value]) => {
      const current = this.periods.at(budget, this.now, timezone);
      const [count] = this.counts([], [[budget, value]]);
      if (current === null || count === undefined) return [];
      const isTold = (percent: number) =>
        this.told.some((each) => each.percent >= percent && this.periods.isIn(each, budget, value, current));
      const { period, spentMicros, limitMicros } = count.row;
      const percents = budget.tellAt.filter(
        (percent) => spentMicros > 0 && spentMicros * 100 >= limitMicros * percent && !isTold(percent),
      );
      const start = budget.period.kind === 'rolling' ? this.periods.newest(budget, this.now) : current.start;
      const account = { meter: budget.meter, value, start };
      this.told.push(...percents.map((percent) => ({ ...account, percent })));
      return percents.map((percent) => ({
        ...limitOf(budget, value),
        start,
        period,
        percent,
        spentMicros,
      }));
    });
    return [...reported, ...told];
  }
}

const formats = new Map<string, Intl.DateTimeFormat>();

/** The local day of a time, found by asking the calendar for the date of every quarter of an hour around it. */
function localDay(at: number, timeZone: string): Span {
  const format = formats.get(timeZone) ?? new Intl.DateTimeFormat('en', { timeZone, dateStyle: 'short' });
  formats.set(timeZone, format);
  const step = 900_000;
  const date = format.format(at);
  let start = Math.floor(at / step) * step;
  while (format.format(start - 1) === date) start -= step;
  let end = start + step;
  while (format.format(end) === date) end += step;
  return { start, end };
}
