import { randomInt } from 'node:crypto';
import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { ALL_CALLS, type BudgetTerms } from '../src/domain/budget.terms.ts';
import { BURN_STEPS } from '../src/domain/burn.condition.ts';
import { type CountableEvent, MAX_LATENESS_MS } from '../src/domain/event.ts';
import type { Decision } from '../src/domain/evaluator.ts';
import type { Rule } from '../src/domain/rule.ts';
import { MAX_SERIES, OTHER } from '../src/domain/step-sums.ts';
import { ruleOf } from './fixtures.ts';
import {
  afterCooldowns,
  arrivalsOf,
  countReasons,
  decideWithRestarts,
  expectSameDecisions,
  stepArbitraries,
} from './brute-force.ts';

const CASES = Number(process.env['CASES'] ?? 200);
const SEED = 20_261_130;
const MINUTE = 60_000;
const START = Date.parse('2026-06-01T09:30:20.000Z');

const agentArbitrary = fc.oneof(
  { weight: 5, arbitrary: fc.constantFrom('a', 'b') },
  { weight: 1, arbitrary: fc.integer({ min: 0, max: MAX_SERIES + 4 }).map((n) => `agent-${n}`) },
);
const eventArbitrary = fc.record({
  agent: agentArbitrary,
  model: fc.constantFrom('large', 'large', 'small'),
  settledMicros: fc.constantFrom(0, 1, 2, 5, 20, 60),
  passedMs: fc.constantFrom(0, 1000, 20_000, MINUTE, 4 * MINUTE, 20 * MINUTE, 55 * MINUTE, 300 * MINUTE),
  behindMs: fc.constantFrom(0, 0, 0, 1000, 299_500, 300_000, 300_500, -300_000),
  duplicateOf: fc.option(fc.integer({ min: 1, max: 10 }), { freq: 6 }),
  ...stepArbitraries,
});
const budgetArbitrary = fc.record({
  limitMicros: fc.constantFrom(0, 10, 100, 100, 301),
  each: fc.constantFrom('agent' as const, 'agent' as const, null),
  model: fc.constantFrom(undefined, 'la*'),
  excluded: fc.constantFrom([], ['b']),
});
const scenarioArbitrary = fc.record({
  rules: fc.array(
    fc.record({
      permille: fc.constantFrom(1, 100, 250, 1000),
      minutes: fc.constantFrom([60, 5] as const, [60, 1] as const, [10, 9] as const, [600, 60] as const),
      cooldownSeconds: fc.constantFrom(0, 0, 1, 600),
    }),
    { minLength: 1, maxLength: 3 },
  ),
  budget: budgetArbitrary,
  /** From this arrival on, the budget is another one, or has another limit alone. */
  edits: fc.array(fc.record({ at: fc.nat(60), budget: budgetArbitrary, isLimit: fc.boolean() }), { maxLength: 2 }),
  events: fc.array(eventArbitrary, { minLength: 1, maxLength: 60, size: 'max' }),
});
type Scenario = typeof scenarioArbitrary extends fc.Arbitrary<infer T> ? T : never;

function termsOf({ model, ...fields }: Scenario['budget']): BudgetTerms {
  const period = { kind: 'day', startMonth: 1, startDay: 1 } as const;
  return {
    ...{ id: 'bud_workspace', name: 'Daily', period, timezone: 'UTC' },
    ...fields,
    selector: model === undefined ? {} : { model },
  };
}

/** The budget at each arrival, the same object until it changes. */
function budgetsOf({ budget, edits, events }: Scenario): BudgetTerms[] {
  let now = termsOf(budget);
  return events.map((_event, index) => {
    for (const edit of edits.filter(({ at }) => at === index)) {
      now = edit.isLimit ? { ...now, limitMicros: edit.budget.limitMicros } : termsOf(edit.budget);
    }
    return now;
  });
}

function rulesOf({ rules }: Scenario): Rule[] {
  return rules.map(({ permille, minutes: [long, short], cooldownSeconds }, index) =>
    ruleOf({
      ...{ id: `rule_${index}`, cooldownSeconds, windowSeconds: long * 60, eventTypes: ['spend.settled'] },
      condition: {
        ...{ kind: 'burn_rate_gte', budgetId: null, permille, longSeconds: long * 60, shortSeconds: short * 60 },
      },
    }),
  );
}

interface Decided {
  rule: string;
  event: string;
  reason: Decision['reason'];
  long: number;
  short: number;
  series: string;
  limit: number;
}

interface Counted {
  event: CountableEvent;
  series: string;
}

/** The slow and obvious evaluator: it keeps every settlement that counts, and adds up both windows for each. */
function decideByBruteForce(
  rules: readonly Rule[],
  arrivals: readonly CountableEvent[],
  budgets: readonly BudgetTerms[],
) {
  const decided: Decided[] = [];
  for (const rule of rules) {
    const { condition } = rule;
    if (condition.kind !== 'burn_rate_gte') throw new Error('a rule of another kind');
    const stepMs = (condition.longSeconds * 1000) / BURN_STEPS;
    const chunkOf = ({ time }: CountableEvent) => Math.floor(Math.floor(time / stepMs) / BURN_STEPS);
    const seen: CountableEvent[] = [];
    let counted: Counted[] = [];
    let newest = -Infinity;
    const decide = afterCooldowns<Decided>(rule);
    let last = budgets[0]!;
    for (const [index, event] of arrivals.entries()) {
      if (event.receivedAt - event.time > MAX_LATENESS_MS) continue;
      const terms = budgets[index]!;
      if (hasOtherCalls(last, terms)) [counted, newest] = [[], -Infinity];
      last = terms;
      if (event.settledMicros === 0 || (terms.selector.model === 'la*' && event.call!.model === 'small')) continue;
      if (terms.each !== null && terms.excluded.includes(event.agentId!)) continue;
      if (seen.some(({ time, identity }) => time === event.time && identity === event.identity)) continue;
      seen.push(event);
      newest = Math.max(newest, chunkOf(event));
      counted = counted.filter((each) => chunkOf(each.event) >= newest - 1);
      if (chunkOf(event) < newest - 1) continue;
      const known = new Set(counted.map(({ series }) => series).filter((series) => series !== OTHER));
      const name = terms.each === null ? ALL_CALLS : event.agentId!;
      const series = known.has(name) || known.size < MAX_SERIES ? name : OTHER;
      counted.push({ event, series });
      const decision = judge(rule, terms, counted, event, series);
      if (decision !== null) decided.push(...decide(event.time, decision));
    }
  }
  return decided;
}

function hasOtherCalls(a: BudgetTerms, b: BudgetTerms): boolean {
  const counted = ({ selector, each, excluded }: BudgetTerms) => JSON.stringify([selector.model, each, excluded]);
  return counted(a) !== counted(b);
}

function judge(
  { id, condition }: Rule,
  { limitMicros: limit }: BudgetTerms,
  counted: readonly Counted[],
  event: CountableEvent,
  series: string,
): Decided | null {
  if (condition.kind !== 'burn_rate_gte') throw new Error('a rule of another kind');
  const { permille, longSeconds, shortSeconds } = condition;
  const stepMs = (longSeconds * 1000) / BURN_STEPS;
  const own = counted.filter((each) => each.series === series).map((each) => each.event);
  const newest = Math.max(...own.map(({ time }) => Math.floor(time / stepMs)));
  const spent = (events: readonly CountableEvent[], seconds: number) =>
    events
      .filter(({ time }) => Math.floor(time / stepMs) > newest - (seconds * 1000) / stepMs)
      .reduce((sum, { settledMicros }) => sum + settledMicros, 0);
  const isMet = (events: readonly CountableEvent[]) =>
    limit > 0 &&
    [longSeconds, shortSeconds].every(
      (seconds) => spent(events, seconds) * 1000 * longSeconds >= permille * limit * seconds,
    );
  if (!isMet(own)) return null;
  const wasMet = isMet(own.filter((each) => each !== event));
  const reason = wasMet ? 'condition_still_true_after_cooldown' : 'condition_became_true';
  const [long, short] = [spent(own, longSeconds), spent(own, shortSeconds)];
  return { ...{ rule: id, event: event.id, reason, long, short, limit }, series };
}

function toDecided({ rule, event, reason, evidence }: Decision): Decided {
  const { longMicros: long, shortMicros: short, limitMicros: limit, value, isOfOthers } = evidence.burn!;
  const series = isOfOthers ? OTHER : (value ?? ALL_CALLS);
  return { rule: rule.id, event: event.id, reason, long, short, series, limit };
}

function expectDecisions(seed: number): Map<string, number> {
  const decided = expectSameDecisions(scenarioArbitrary, { seed, numRuns: CASES }, (scenario) => {
    const [rules, arrivals, budgets] = [rulesOf(scenario), arrivalsOf(START, scenario.events), budgetsOf(scenario)];
    const made = decideWithRestarts(rules, arrivals, scenario.events, (arrival) => budgets[arrival]);
    return { decided: made.map(toDecided), expected: decideByBruteForce(rules, arrivals, budgets) };
  });
  return countReasons(decided);
}

describe(`a burn rate rule, in ${CASES} histories with edits of its budget, late events and restarts,`, () => {
  it(`decides what brute force decides: seed ${SEED}`, () => {
    const reasons = expectDecisions(SEED);
    for (const reason of ['condition_became_true', 'condition_still_true_after_cooldown', 'cooldown']) {
      expect([reason, (reasons.get(reason) ?? 0) > CASES / 20]).toEqual([reason, true]);
    }
  });

  const randomSeed = randomInt(2 ** 31);
  it(`decides what brute force decides: random seed ${randomSeed}`, () => {
    expect(expectDecisions(randomSeed).get('condition_became_true')).toBeGreaterThan(CASES / 5);
  });
});
