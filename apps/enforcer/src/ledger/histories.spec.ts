import { randomInt } from 'node:crypto';
import { isDeepStrictEqual } from 'node:util';
import { expect, it } from '@jest/globals';
import { BUDGET_SCOPES, type BudgetedCall, type BudgetScope, type Labels } from '@tollkeeper/contracts';
import { provenTenantId } from '@tollkeeper/kernel';
import { createMetrics } from '@tollkeeper/runtime';
import { testLogger } from '@tollkeeper/testing';
import { createMemoryJournal, createMemorySnapshots, ALONE } from '../../test/memory.stores.ts';
import { budgetsFor, budgetsOf, type OfBudgets } from '../../test/history.budgets.ts';
import { HistoryDashboard } from '../../test/history.dashboard.ts';
import { answering, codeOf, numbers, plain, viewOfAll } from '../../test/history.answers.ts';
import { countDay, countsIn } from '../../test/reference.counts.ts';
import { Reference } from '../../test/reference.ts';
import { type ActiveBudgets, createActiveBudgets } from '../domain/active.budgets.ts';
import { findPeriod } from '../domain/budget.period.ts';
import { postAny } from '../domain/correct.ts';
import { findDay } from '../domain/day.ts';
import type { Ask } from '../domain/decision.ts';
import { extend, read, release } from '../domain/hold.ts';
import { reservationIdOf } from '../domain/journal.ts';
import type { Ledger } from '../domain/ledger.ts';
import type { DailyLimit } from '../domain/limit.ts';
import { withNewestBudgets } from '../domain/newest.budgets.ts';
import type { ReservationRequest } from '../domain/reservation.ts';
import { reserve } from '../domain/reserve.ts';
import { post, settle } from '../domain/settle.ts';
import { findReached, markReported, type Reaching } from '../domain/threshold.ts';
import { createLedgerMetrics } from './ledger.metrics.ts';
import { createWorkspaceLedger } from './workspace.ledger.ts';

const SEED = 20_260_329;
/** Raise it after a change of the rules: HISTORIES=3000 npx nx test @tollkeeper/enforcer histories */
const HISTORIES = Number(process.env['HISTORIES'] ?? 200);
const RANDOM_HISTORIES = 200;
const STEPS = 24;
const SECOND = 1_000;
const HOUR = 3_600 * SECOND;
const TENANT = provenTenantId('ws_histories');
/** Shortly before days of 23, 25, 23.5, 24.5 and 24 hours, and at the end of months of 28, 29, 30 and 31 days. */
const BEGINNINGS = [
  ['Europe/Berlin', '2026-03-28T22:40:00Z'],
  ['Europe/Berlin', '2026-10-24T21:40:00Z'],
  ['Australia/Lord_Howe', '2026-10-03T13:10:00Z'],
  ['Australia/Lord_Howe', '2026-04-04T12:40:00Z'],
  ['UTC', '2026-06-01T23:40:00Z'],
  ['Europe/Paris', '2026-02-28T22:40:00Z'],
  ['UTC', '2028-02-29T23:40:00Z'],
  ['America/New_York', '2026-05-01T03:40:00Z'],
  ['Asia/Kathmandu', '2026-12-31T17:55:00Z'],
] as const;
const ZONES = ['Europe/Berlin', 'Australia/Lord_Howe', 'UTC', 'America/New_York', 'Asia/Kathmandu'] as const;
const AGENTS = ['agent-a', 'agent-b'];
const PLANS = ['basic', 'pro'];
const LABELS: readonly Labels[] = [{}, {}, { team: 'growth' }, { team: 'sales', env: 'prod' }];
/** Those of keys and agents, which change while requests are repeated. */
const GIVEN: readonly Labels[] = [{}, {}, {}, { env: 'prod' }, { team: 'growth', user: 'u' }];
const SCOPE_IDS: Record<BudgetScope, readonly string[]> = { workspace: [TENANT], agent: AGENTS, plan: PLANS };

const metrics = createLedgerMetrics(createMetrics('histories'));
const { logger } = testLogger();

interface Step {
  what: string;
  ask: (known: ActiveBudgets) => Ask<unknown>;
  /** The answer of the reference. Call it after all earlier steps. */
  expected: () => unknown;
}

async function live(seed: number): Promise<void> {
  const next = numbers(seed);
  const pick = <T>(of: readonly T[]): T => of[next(of.length)]!;
  const reference = new Reference();
  const dashboard = new HistoryDashboard(reference, next);
  let ticks = 0;
  const [zone, beginning] = pick(BEGINNINGS);
  reference.timezone = zone;
  reference.now = Date.parse(beginning) + next(1200) * SECOND;
  const deps = {
    journal: createMemoryJournal(),
    snapshots: createMemorySnapshots(),
    timezoneOf: async () => reference.timezone,
    ...ALONE,
    metrics,
    clock: () => reference.now,
    // The budgets of a history have one order, however little time passes between two of them.
    now: () => ++ticks,
    logger,
  };
  const replicas = [0, 1, 2].map(() => createWorkspaceLedger(TENANT, deps));
  const budgets = new Map<string, number>();
  /** The highest budget of each limit, Infinity if it was unset at some time. */
  const highest = new Map<string, number>();
  const log: string[] = [];

  const names = BUDGET_SCOPES.flatMap((scope) => SCOPE_IDS[scope].map((scopeId) => ({ scope, scopeId })));
  const setBudget = (name: (typeof names)[number]) => {
    const micros = pick([null, 0, 40, 100, 200, 300]);
    budgets.delete(name.scopeId);
    if (micros !== null) budgets.set(name.scopeId, micros);
    highest.set(name.scopeId, Math.max(highest.get(name.scopeId) ?? 0, micros ?? Infinity));
  };
  names.forEach(setBudget);
  const limitsOf = (chosen: readonly (typeof names)[number][]): DailyLimit[] =>
    chosen.flatMap((name) => {
      const limitMicros = budgets.get(name.scopeId);
      return limitMicros === undefined ? [] : [{ ...name, limitMicros }];
    });

  /** Budgets are made, changed and deleted in the middle. */
  let made = budgetsFor(reference.now).filter(() => next(3) > 0);
  const everMade = budgetsFor(reference.now);
  let active = createActiveBudgets(made, ++ticks);
  let before = active;
  const newest = { of: () => active, since: async () => createActiveBudgets(made, ++ticks) };
  const changeBudgets = () => {
    const one = pick(everMade);
    const limitMicros = pick([0, 40, 100, 250]);
    const last = made.find(({ id }) => id === one.id) ?? one;
    const others = made.filter(({ id }) => id !== one.id);
    switch (next(4)) {
      case 0:
        made = others;
        break;
      case 1:
        // All spend is counted anew.
        made = [...others, { ...last, meter: `${one.id}.${next(3)}` }];
        break;
      case 2:
        if ('startDay' in last.period) {
          const fiscal = { startMonth: pick([1, 2, 3, 7]), startDay: pick([1, 2, 26, 28]) };
          made = [...others, { ...last, period: { ...last.period, ...fiscal } }];
        }
        break;
      default:
        made = [...others, { ...last, limitMicros, grantableMicros: limitMicros * pick([1, 2]) }];
    }
    before = active;
    active = createActiveBudgets(made, ++ticks);
  };
  const callOf = (call: Pick<ReservationRequest, 'agentId' | 'planKey' | 'model' | 'labels'>): BudgetedCall => {
    const { agentId: agent, planKey: plan, model, labels } = call;
    return { agent, plan, model, provider: null, key: null, labels };
  };
  /** Each limit that any call may be a part of. */
  const everyCall = AGENTS.flatMap((agentId) =>
    PLANS.flatMap((planKey) => LABELS.map((labels) => callOf({ agentId, planKey, model: 'large-1', labels }))),
  );
  const allOfBudgets = () => {
    const all = everyCall.flatMap((call) => budgetsOf(active.all, call, reference.now));
    return [...new Map(all.map((each) => [`${each[0].meter}/${each[1]}`, each])).values()];
  };
  const allLimits = () => allOfBudgets().map(([{ meter }, value]) => active.limitOf(meter, value)!);

  const contents = new Map<string, Omit<ReservationRequest, 'requestId'>>();
  const newContent = () => ({
    agentId: pick(AGENTS),
    runId: `run-${next(2)}`,
    planKey: pick([null, ...PLANS]),
    amountMicros: next(80),
    ttlSeconds: pick([10, 60, 600, 3600]),
    model: pick([null, 'large-1']),
    provider: null,
    labels: pick(LABELS),
  });
  const anyRequestId = () => `request-${next(7)}`;
  const anyId = () => reservationIdOf(TENANT, anyRequestId());
  const anySettlement = () => `settlement-${next(9)}`;

  function anyStep(): Step {
    const kind = pick([
      'reserve',
      'reserve',
      'reserve',
      'reserve',
      'settle',
      'settle',
      'release',
      'extend',
      'post',
      'post',
      'correct',
      'get',
      'view',
      'report',
    ]);
    switch (kind) {
      case 'reserve': {
        const requestId = anyRequestId();
        const content = next(8) === 0 ? newContent() : (contents.get(requestId) ?? newContent());
        if (!contents.has(requestId)) contents.set(requestId, content);
        const request = { requestId, ...content };
        const dryRun = next(6) === 0;
        const given = { pinned: pick(GIVEN), ofAgent: pick(GIVEN) };
        const limits = limitsOf(names.filter((name) => countsIn(content, name)));
        const call = callOf({ ...content, labels: { ...content.labels, ...given.ofAgent, ...given.pinned } });
        const budgets = budgetsOf(active.all, call, reference.now);
        const allOf = (known: ActiveBudgets) => [...limits, ...known.limitsFor(call, reference.now)];
        return {
          what: `reserve ${JSON.stringify({ ...request, ...given, limits: allOf(active), dryRun })}`,
          ask: (known) => reserve({ ...request, ...given, keyId: null, limits: allOf(known), dryRun }, known),
          expected: () =>
            reference.reserve(reservationIdOf(TENANT, requestId), { ...request, ...given }, limits, budgets, dryRun),
        };
      }
      case 'settle': {
        const [id, settlementId, amountMicros] = [anyId(), anySettlement(), next(120)];
        return {
          what: `settle ${id} ${settlementId} ${amountMicros}`,
          ask: (known) => settle(id, { settlementId, amountMicros }, known),
          expected: () =>
            dashboard.settles(id, settlementId, () => reference.settle(id, settlementId, amountMicros, active.all)),
        };
      }
      case 'release': {
        const id = anyId();
        return { what: `release ${id}`, ask: () => release(id), expected: () => reference.release(id) };
      }
      case 'extend': {
        const [id, ttlSeconds] = [anyId(), pick([10, 600, 3600])];
        return {
          what: `extend ${id} ${ttlSeconds}`,
          ask: () => extend(id, ttlSeconds),
          expected: () => reference.extend(id, ttlSeconds),
        };
      }
      case 'post': {
        const reservationId = next(2) === 0 ? null : anyId();
        const requestId = next(2) === 0 ? undefined : anyRequestId();
        const agos = [0, 0, 0, -240 * SECOND, 60 * SECOND, 5 * HOUR, 26 * HOUR, 100 * HOUR];
        // An event that settles a reservation is not older than the grant, but for the clocks.
        const ago = pick(reservationId === null && requestId === undefined ? agos : agos.slice(0, 5));
        const spend = {
          // Nothing recognizes a settlement of four days ago.
          settlementId: ago > 90 * HOUR ? `settlement-old-${ticks}` : anySettlement(),
          ...{ reservationId, requestId },
          ...{ agentId: pick(AGENTS), planKey: pick([null, ...PLANS]), micros: next(60), at: reference.now - ago },
          ...{ model: pick([null, 'large-1']), labels: pick(LABELS) },
        };
        const call = callOf(spend);
        dashboard.add({ ...spend, call });
        return {
          what: `post ${JSON.stringify(spend)}`,
          ask: (known) => answering(post(spend, reference.now, known), ({ outcome }) => outcome),
          expected: () => reference.post({ ...spend, call }, active.all),
        };
      }
      case 'correct': {
        const settlement = dashboard.any();
        if (settlement === undefined) return anyStep();
        const correctedAt = reference.now - pick([0, 0, 0, 60 * SECOND, 100 * HOUR]);
        const spend = { ...settlement, correctedAt, micros: next(80) - Math.min(40, settlement.micros) };
        dashboard.add(spend);
        const { model, labels } = spend.call;
        return {
          what: `correct ${JSON.stringify(spend)}`,
          ask: (known) =>
            answering(postAny({ ...spend, model, labels }, reference.now, known), ({ outcome }) => outcome),
          expected: () => reference.take(spend, active.all),
        };
      }
      case 'get': {
        const id = anyId();
        return { what: `get ${id}`, ask: () => read(id), expected: () => reference.get(id) };
      }
      case 'report': {
        const [limits, budgets, ofBudgets] = [limitsOf(names), allOfBudgets(), allLimits()];
        const reaching = (ledger: Ledger, now: number): Reaching[] => {
          const { start, timezone } = findDay(ledger, now)!;
          const periods = ofBudgets.flatMap((limit) => {
            const period = findPeriod(ledger, limit.budget, now, { timezone, now });
            return period === null ? [] : [{ limit, start: period.start }];
          });
          return [...limits.map((limit) => ({ limit, start })), ...periods];
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
          expected: () => reference.report(limits, budgets),
        };
      }
      default: {
        const [limits, budgets] = [limitsOf(names), allOfBudgets()];
        const ofBudgets = allLimits();
        const ask = (known: ActiveBudgets) => viewOfAll([...limits, ...ofBudgets], known);
        return { what: 'view', ask, expected: () => viewOf(reference, limits, budgets) };
      }
    }
  }

  async function check(replica: number, steps: readonly Step[]): Promise<void> {
    // With older budgets, a request is decided only if the ledger has not met the newer ones.
    const isStale =
      steps.length === 1 && reference.meters.isAgreed(active.all) && !reference.meters.isAgreed(before.all);
    const source = { ...newest, ...(isStale && { of: () => before }) };
    const isBudgeted = steps.some(({ ask }) => ask(active).budgets !== undefined);
    // A request is repeated if the replica has just met other budgets. All of a batch are then, or they change places.
    const submit = ({ ask }: Step) =>
      withNewestBudgets(source, TENANT, (known) =>
        replicas[replica]!.submit<unknown>({ ...ask(known), ...(isBudgeted && { budgets: known }) }),
      );
    const answers = steps.map((step) => submit(step).then(plain, codeOf));
    if (isBudgeted) reference.agree(active.all);
    for (const [index, { what, expected }] of steps.entries()) {
      log.push(`${new Date(reference.now).toISOString()} replica ${replica}: ${what}`);
      reference.dayOf(reference.now);
      const wanted = plain(expected());
      const answer = await answers[index];
      if (isDeepStrictEqual(answer, wanted)) continue;
      throw new Error(`History of seed ${seed}:\n${log.join('\n')}\n${JSON.stringify({ answer, wanted }, null, 1)}`);
    }
  }

  for (let step = 0; step < STEPS; step += 1) {
    const replica = next(3);
    switch (next(12)) {
      case 0:
        replicas[replica] = createWorkspaceLedger(TENANT, deps);
        log.push(`replica ${replica} starts again`);
        break;
      case 1:
        await replicas[replica]!.saveSnapshot();
        log.push(`replica ${replica} saves a snapshot`);
        break;
      case 6:
        await replicas[replica]!.letGo();
        log.push(`replica ${replica} lets it go`);
        break;
      case 2:
        setBudget(pick(names));
        break;
      case 7:
        changeBudgets();
        log.push(`budgets: ${JSON.stringify(made)}`);
        break;
      case 3:
        if (next(4) === 0) reference.timezone = pick(ZONES);
        break;
      case 4:
        reference.now += pick([15, 90, 700, 4_000, 40_000]) * SECOND;
        break;
      case 5:
        await replicas[replica]!.endDueHolds();
        reference.dayOf(reference.now);
        break;
    }
    reference.now += pick([0, 0, 1, 3, 11]) * SECOND;
    const steps = Array.from({ length: next(4) === 0 ? 4 : 1 }, anyStep);
    // The reference opens days like a batch: all days before the first decision, the running one first.
    await check(replica, steps);
    if (next(5) === 0)
      await check(
        next(3),
        steps.filter(({ what }) => !what.startsWith('report')),
      );
    if (next(3) === 0) {
      await dashboard.fill(() => pick(replicas), newest);
      log.push('budgets are filled');
    }
  }

  const everything = names.map((name) => ({ ...name, limitMicros: budgets.get(name.scopeId) ?? 0 }));
  await dashboard.fill(() => pick(replicas), newest);
  for (const replica of [0, 1, 2]) {
    const [all, budgets] = [[...everything, ...allLimits()], allOfBudgets()];
    const ask = (known: ActiveBudgets) => viewOfAll(all, known);
    await check(replica, [{ what: 'last view', ask, expected: () => viewOf(reference, everything, budgets) }]);
  }
  const { start } = reference.dayOf(reference.now);
  for (const name of names) {
    const { posted, within, overspend } = countDay(reference, start, name);
    const beyond = overspend.above_hold + overspend.late + overspend.unreserved;
    if (posted !== within + beyond) throw new Error(`Seed ${seed}: the parts of ${name.scopeId} are not the whole`);
    if (posted - highest.get(name.scopeId)! > beyond)
      throw new Error(`Seed ${seed}: ${name.scopeId} is past its bound`);
  }
}

function viewOf(reference: Reference, limits: readonly DailyLimit[], budgets: OfBudgets) {
  const { start, end, timezone } = reference.dayOf(reference.now);
  const items = reference.counts(limits, budgets).map(({ row, counted }) => {
    const { open, released, expired, overspend } = counted;
    // Of earlier reservations, a budget does not know how they ended.
    const ended = row.budget === undefined && { released, expired, overspendMicros: overspend };
    return { ...row, openReservations: open, ...ended };
  });
  return { day: { start, end, timezone }, items };
}

it(`decides ${HISTORIES} histories from seed ${SEED} as the rules say`, async () => {
  for (let history = 0; history < HISTORIES; history += 1) await live(SEED + history);
  expect.assertions(0);
});

const randomSeed = randomInt(2 ** 31);
it(`decides ${RANDOM_HISTORIES} histories from the random seed ${randomSeed} as the rules say`, async () => {
  for (let history = 0; history < RANDOM_HISTORIES; history += 1) await live(randomSeed + history);
  expect.assertions(0);
});
