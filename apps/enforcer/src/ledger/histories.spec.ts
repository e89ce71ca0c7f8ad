import { randomInt } from 'node:crypto';
import { isDeepStrictEqual } from 'node:util';
import { expect, it } from '@jest/globals';
import { createMetrics } from '@tollkeeper/runtime';
import { testLogger } from '@tollkeeper/testing';
import { codeOf, numbers, picking, plain, viewOfAll } from '../../test/history.answers.ts';
import { HistoryDashboard } from '../../test/history.dashboard.ts';
import { ACCOUNTS, HistoryLimits, TENANT } from '../../test/history.limits.ts';
import type { Step } from '../../test/history.step.ts';
import { HistorySteps } from '../../test/history.steps.ts';
import { createMemoryJournal, createMemorySnapshots, ALONE } from '../../test/memory.stores.ts';
import { countDay } from '../../test/reference.counts.ts';
import { Reference } from '../../test/reference.ts';
import type { ActiveBudgets } from '../domain/active.budgets.ts';
import { withNewestBudgets } from '../domain/newest.budgets.ts';
import { withRaises } from '../domain/limit.rows.ts';
import { createLedgerMetrics } from './ledger.metrics.ts';
import { createWorkspaceLedger } from './workspace.ledger.ts';

const SEED = 20_260_329;
/** Raise it after a change of the rules: HISTORIES=3000 npx nx test @tollkeeper/enforcer histories */
const HISTORIES = Number(process.env['HISTORIES'] ?? 200);
const RANDOM_HISTORIES = 200;
const STEPS = 24;
const SECOND = 1_000;
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

const metrics = createLedgerMetrics(createMetrics('histories'));
const { logger } = testLogger();

async function live(seed: number): Promise<void> {
  const next = numbers(seed);
  const pick = picking(next);
  const reference = new Reference();
  const dashboard = new HistoryDashboard(reference, next);
  const [zone, beginning] = pick(BEGINNINGS);
  reference.timezone = zone;
  reference.now = Date.parse(beginning) + next(1200) * SECOND;
  const limits = new HistoryLimits(reference, next);
  const steps = new HistorySteps({ reference, dashboard, limits, next });
  const deps = {
    journal: createMemoryJournal(),
    snapshots: createMemorySnapshots(),
    timezoneOf: async () => reference.timezone,
    ...ALONE,
    metrics,
    clock: () => reference.now,
    now: () => limits.tick(),
    logger,
  };
  const replicas = [0, 1, 2].map(() => createWorkspaceLedger(TENANT, deps));
  const log: string[] = [];
  /** The budgets of the last change of the meters: the ledger refuses older ones from then on. */
  let met: ActiveBudgets | undefined;

  async function check(replica: number, asked: readonly Step[]): Promise<void> {
    // With older budgets, a request is decided only if the ledger has not met the newer ones.
    const { active, before } = limits;
    const isStale = asked.length === 1 && met === active && !reference.meters.isAgreed(before.all);
    const source = limits.source(isStale);
    const isBudgeted = asked.some(({ ask }) => ask(active).budgets !== undefined);
    // A request is repeated if the replica has just met other budgets. All of a batch are then, or they change places.
    const submit = ({ ask }: Step) =>
      withNewestBudgets(source, TENANT, (known) =>
        replicas[replica]!.submit<unknown>({ ...ask(known), ...(isBudgeted && { budgets: known }) }),
      );
    const answers = asked.map((step) => submit(step).then(plain, codeOf));
    if (isBudgeted && !reference.meters.isAgreed(active.all)) met = active;
    if (isBudgeted) reference.agree(active.all);
    for (const [index, { what, expected }] of asked.entries()) {
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
        limits.changeDaily();
        break;
      case 7:
        log.push(`budgets: ${JSON.stringify(limits.changeBudgets())}`);
        break;
      case 8:
        log.push(`raise: ${JSON.stringify(limits.raise())}`);
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
    const asked = Array.from({ length: next(4) === 0 ? 4 : 1 }, () => steps.any());
    // The reference opens days like a batch: all days before the first decision, the running one first.
    await check(replica, asked);
    if (next(5) === 0)
      await check(
        next(3),
        asked.filter(({ what }) => !what.startsWith('report')),
      );
    if (next(3) === 0) {
      await dashboard.fill(() => pick(replicas), limits.source());
      log.push('budgets are filled');
    }
  }

  await dashboard.fill(() => pick(replicas), limits.source());
  const daily = ACCOUNTS.map((account) => ({ ...account, limitMicros: limits.dailyOf(account) ?? 0 }));
  const others = limits.allBudgetLimits();
  const lastView: Step = {
    what: 'last view',
    ask: (known) => viewOfAll([...withRaises(daily, known.raises), ...others], known),
    expected: () => reference.view(daily, limits.allBudgets()),
  };
  for (const replica of [0, 1, 2]) await check(replica, [lastView]);
  const { start } = reference.dayOf(reference.now);
  for (const account of ACCOUNTS) {
    const { posted, within, overspend } = countDay(reference, start, account);
    const beyond = overspend.above_hold + overspend.late + overspend.unreserved;
    if (posted !== within + beyond) throw new Error(`Seed ${seed}: the parts of ${account.scopeId} are not the whole`);
    if (posted - limits.highest.get(account.scopeId)! > beyond)
      throw new Error(`Seed ${seed}: ${account.scopeId} is past its bound`);
  }
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
