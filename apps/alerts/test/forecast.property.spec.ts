import { randomInt } from 'node:crypto';
import { describe, expect, it } from '@jest/globals';
import { BUDGET_PERIODS, type BudgetPeriod } from '@tollkeeper/kernel';
import fc from 'fast-check';
import { ALL_CALLS, type BudgetTerms } from '../src/domain/budget.terms.ts';
import type { Decision } from '../src/domain/evaluator.ts';
import type { Rule } from '../src/domain/rule.ts';
import { MAX_SERIES, OTHER } from '../src/domain/step-sums.ts';
import { arrivalsOf, countReasons, decideWithRestarts, expectSameDecisions, stepArbitraries } from './brute-force.ts';
import { ruleOf } from './fixtures.ts';
import { forecastByBruteForce, type Forecasted } from './forecast.reference.ts';

const CASES = Number(process.env['CASES'] ?? 100);
const SEED = 20_261_130;
const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;
/** Clocks change a week later in New York, four later in Europe, and six later on Lord Howe Island. */
const START = Date.parse('2026-03-01T09:30:20.000Z');
const TIMEZONES = ['UTC', 'Europe/Paris', 'America/New_York', 'Asia/Kolkata', 'Australia/Lord_Howe'];

const agentArbitrary = fc.oneof(
  { weight: 6, arbitrary: fc.constantFrom('a', 'b') },
  { weight: 1, arbitrary: fc.integer({ min: 0, max: MAX_SERIES + 4 }).map((n) => `agent-${n}`) },
);
const eventArbitrary = fc.record({
  agent: agentArbitrary,
  model: fc.constantFrom('large', 'large', 'large', 'small'),
  settledMicros: fc.constantFrom(0, 1, 2, 5, 20, 60, 60),
  passedMs: fc.oneof(
    { weight: 6, arbitrary: fc.constantFrom(0, 1000, MINUTE, 7 * MINUTE, 25 * MINUTE, HOUR) },
    { weight: 3, arbitrary: fc.constantFrom(3 * HOUR, 11 * HOUR, DAY) },
    // The same hours in further weeks, so that there are weights.
    { weight: 3, arbitrary: fc.constantFrom(7 * DAY, 7 * DAY - HOUR) },
    { weight: 1, arbitrary: fc.constantFrom(13 * DAY, 17 * DAY, 40 * DAY) },
  ),
  behindMs: fc.constantFrom(0, 0, 0, 1000, 299_500, 300_000, 300_500, -300_000),
  duplicateOf: fc.option(fc.integer({ min: 1, max: 10 }), { freq: 6 }),
  ...stepArbitraries,
});
const periodArbitrary: fc.Arbitrary<BudgetPeriod> = fc
  .record({
    kind: fc.constantFrom(...BUDGET_PERIODS),
    startMonth: fc.constantFrom(1, 4),
    startDay: fc.constantFrom(1, 15),
    /** Of a period that is once, from about the beginning. */
    days: fc.constantFrom(0.1, 2, 30),
    seconds: fc.constantFrom(3600, 86_400, 90_060, 2_678_400),
  })
  .map(({ kind, startMonth, startDay, days, seconds }) => {
    if (kind === 'once') return { kind, start: START + HOUR, end: START + 8 * DAY + days * DAY };
    return kind === 'rolling' ? { kind, seconds } : { kind, startMonth, startDay };
  });
const budgetArbitrary = fc.record({
  limitMicros: fc.constantFrom(0, 10, 100, 301, 301, 2000),
  period: periodArbitrary,
  timezone: fc.constantFrom(...TIMEZONES),
  each: fc.constantFrom('agent' as const, 'agent' as const, null),
  model: fc.constantFrom(undefined, undefined, 'la*'),
  excluded: fc.constantFrom([], [], ['b']),
});
const editArbitrary = fc.record({
  at: fc.nat(80),
  budget: budgetArbitrary,
  /** Another limit alone, another period or zone, another budget, none, or none known. */
  what: fc.constantFrom('limit', 'limit', 'period', 'timezone', 'budget', 'deleted', 'unknown', 'back'),
});
/** Spend of one agent every eight hours, so that the weeks before the other events are known. */
function habitOf(days: number) {
  const usual = { agent: 'a', model: 'large', settledMicros: 5, passedMs: 8 * HOUR, behindMs: 0, duplicateOf: null };
  return Array.from({ length: 3 * days }, () => ({ ...usual, saved: false, lost: false }));
}

const scenarioArbitrary = fc
  .record({
    habitDays: fc.constantFrom(0, 0, 9, 16),
    rules: fc.array(
      fc.record({
        percent: fc.constantFrom(50, 80, 100, 100, 200),
        cooldownSeconds: fc.constantFrom(0, 0, 1, 3600, 86_400),
      }),
      { minLength: 1, maxLength: 3 },
    ),
    budget: budgetArbitrary,
    edits: fc.array(editArbitrary, { maxLength: 3 }),
    events: fc.array(eventArbitrary, { minLength: 1, maxLength: 40, size: 'max' }),
  })
  .map(({ habitDays, events, ...scenario }) => ({ ...scenario, events: [...habitOf(habitDays), ...events] }));
type Scenario = typeof scenarioArbitrary extends fc.Arbitrary<infer T> ? T : never;

function termsOf({ model, ...fields }: Scenario['budget']): BudgetTerms {
  const selector = model === undefined ? {} : { model };
  return { ...{ id: 'bud_workspace', name: 'Growth', selector }, ...fields };
}

type Edit = Scenario['edits'][0];
const EDITS: Record<Edit['what'], (now: BudgetTerms, edit: Edit) => BudgetTerms | null | undefined> = {
  limit: (now, { budget: { limitMicros } }) => ({ ...now, limitMicros }),
  period: (now, { budget: { period } }) => ({ ...now, period }),
  timezone: (now, { budget: { timezone } }) => ({ ...now, timezone }),
  budget: (_now, { budget }) => termsOf(budget),
  deleted: () => null,
  unknown: () => undefined,
  back: (now) => now,
};

/** The budget at each arrival. */
function budgetsOf({ budget, edits, events }: Scenario): (BudgetTerms | null | undefined)[] {
  let terms = termsOf(budget);
  let seen: BudgetTerms | null | undefined = terms;
  return events.map((_event, index) => {
    for (const edit of edits.filter(({ at }) => at === index)) {
      seen = EDITS[edit.what](terms, edit);
      terms = seen ?? terms;
    }
    return seen;
  });
}

function rulesOf({ rules }: Scenario): Rule[] {
  return rules.map(({ percent, cooldownSeconds }, index) =>
    ruleOf({
      ...{ id: `rule_${index}`, cooldownSeconds, windowSeconds: 86_400, eventTypes: ['spend.settled'] },
      ...{ condition: { kind: 'forecast_gte', budgetId: null, percent }, effectiveAt: new Date(START - HOUR) },
    }),
  );
}

function toDecided({ rule, event, reason, evidence }: Decision): Forecasted {
  const { limitMicros: limit, value, isOfOthers, ...facts } = evidence.forecast!;
  const { spentMicros: spent, spentSince: since, paceMicros: pace, weeks, forecastMicros: forecast, usedUpAt } = facts;
  const series = isOfOthers ? OTHER : (value ?? ALL_CALLS);
  return {
    ...{ rule: rule.id, event: event.id, reason, series, limit, spent, since, pace, weeks, forecast, usedUpAt },
  };
}

function expectDecisions(seed: number): Forecasted[] {
  return expectSameDecisions(scenarioArbitrary, { seed, numRuns: CASES }, (scenario) => {
    const [rules, arrivals, budgets] = [rulesOf(scenario), arrivalsOf(START, scenario.events), budgetsOf(scenario)];
    const made = decideWithRestarts(rules, arrivals, scenario.events, (arrival) => budgets[arrival]);
    return { decided: made.map(toDecided), expected: forecastByBruteForce(rules, arrivals, budgets) };
  });
}

describe(`a forecast rule, in ${CASES} histories with all periods, edits of the budget, late events and restarts,`, () => {
  it(`decides what brute force decides: seed ${SEED}`, () => {
    const decided = expectDecisions(SEED);
    const reasons = countReasons(decided);
    for (const reason of ['condition_became_true', 'condition_still_true_after_cooldown', 'cooldown']) {
      expect([reason, (reasons.get(reason) ?? 0) > CASES / 40]).toEqual([reason, true]);
    }
    // The histories are such that forecasts differ in what they rest on.
    for (const weeks of [0, 1, 2]) {
      expect([weeks, decided.filter((each) => each.weeks === weeks).length > CASES / 40]).toEqual([weeks, true]);
    }
    const early = decided.filter(({ spent, limit }) => spent < limit);
    expect(early.filter(({ usedUpAt }) => usedUpAt === null).length).toBeGreaterThan(CASES / 20);
    expect(early.filter(({ usedUpAt }) => usedUpAt !== null).length).toBeGreaterThan(CASES / 20);
  });

  const randomSeed = randomInt(2 ** 31);
  it(`decides what brute force decides: random seed ${randomSeed}`, () => {
    expect(countReasons(expectDecisions(randomSeed)).get('condition_became_true')).toBeGreaterThan(CASES / 5);
  });
});
