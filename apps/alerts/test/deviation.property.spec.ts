import { randomInt } from 'node:crypto';
import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { type CountableEvent, MAX_LATENESS_MS } from '../src/domain/event.ts';
import type { Decision } from '../src/domain/evaluator.ts';
import type { Rule } from '../src/domain/rule.ts';
import { MAX_SERIES } from '../src/domain/step-sums.ts';
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
const HOUR = 3_600_000;
const DAY = 24 * HOUR;
/** A Monday, in the middle of an hour. */
const START = Date.parse('2026-06-01T09:30:00.000Z');
/** As far back as an hour is compared, and what is kept. */
const [WEEKS, KEPT_DAYS] = [4, 29];

const agentArbitrary = fc.oneof(
  { weight: 5, arbitrary: fc.constantFrom('a', 'b') },
  { weight: 1, arbitrary: fc.integer({ min: 0, max: MAX_SERIES + 4 }).map((n) => `agent-${n}`) },
);
const eventArbitrary = fc.record({
  agent: agentArbitrary,
  model: fc.constant('large'),
  settledMicros: fc.constantFrom(0, 1, 2, 3, 5, 8, 13, 40, 40, 100, 100),
  /** Mostly the same hour in further weeks, so that there is something to compare with. */
  passedMs: fc.oneof(
    { weight: 8, arbitrary: fc.constantFrom(0, 1000, 1000, 60_000) },
    { weight: 6, arbitrary: fc.constant(7 * DAY) },
    { weight: 1, arbitrary: fc.constantFrom(20 * 60_000, HOUR, DAY, 7 * DAY - HOUR, 28 * DAY) },
  ),
  behindMs: fc.constantFrom(0, 0, 0, 1000, 299_500, 300_000, 300_500, -300_000),
  duplicateOf: fc.option(fc.integer({ min: 1, max: 10 }), { freq: 6 }),
  ...stepArbitraries,
});
const scenarioArbitrary = fc.record({
  rules: fc.array(
    fc.record({
      times: fc.constantFrom(1, 2, 3, 10),
      minMicros: fc.constantFrom(1, 3, 10),
      cooldownSeconds: fc.constantFrom(0, 1, 1, 1, 600),
      scopeType: fc.constantFrom('workspace' as const, 'workspace' as const, 'agent' as const),
    }),
    { minLength: 1, maxLength: 3 },
  ),
  events: fc.array(eventArbitrary, { minLength: 1, maxLength: 60, size: 'max' }),
});
type Scenario = typeof scenarioArbitrary extends fc.Arbitrary<infer T> ? T : never;

interface Decided {
  rule: string;
  event: string;
  reason: Decision['reason'];
  spent: number;
  weeks: number;
  median: number;
  agent: string | null;
}

function rulesOf({ rules }: Scenario): Rule[] {
  return rules.map(({ times, minMicros, cooldownSeconds, scopeType }, index) =>
    ruleOf({
      ...{ id: `rule_${index}`, cooldownSeconds, scopeType, windowSeconds: 3600, eventTypes: ['spend.settled'] },
      condition: { kind: 'deviation_gte', times, minMicros },
      ...(scopeType === 'agent' && { scopeId: 'a' }),
    }),
  );
}

/** The slow and obvious evaluator: it keeps every settlement, and adds up whole hours of them. */
function decideByBruteForce(rules: readonly Rule[], arrivals: readonly CountableEvent[]): Decided[] {
  const decided: Decided[] = [];
  for (const rule of rules) {
    const counted: { event: CountableEvent; series: string }[] = [];
    let newestDay = -Infinity;
    const decide = afterCooldowns<Decided>(rule);
    for (const event of arrivals) {
      if (event.receivedAt - event.time > MAX_LATENESS_MS || event.settledMicros === 0) continue;
      if (rule.scopeType === 'agent' && event.agentId !== rule.scopeId) continue;
      if (counted.some(({ event: e }) => e.time === event.time && e.identity === event.identity)) continue;
      newestDay = Math.max(newestDay, Math.floor(event.time / DAY));
      const kept = counted.filter(({ event: { time } }) => Math.floor(time / DAY) >= newestDay - KEPT_DAYS);
      const known = new Set(kept.map(({ series }) => series).filter((series) => series !== ''));
      const name = event.agentId!;
      const series = known.has(name) || known.size < MAX_SERIES ? name : '';
      counted.push({ event, series });
      const decision = judge(rule, [...kept, { event, series }], event, series);
      if (decision !== null) decided.push(...decide(event.time, decision));
    }
  }
  return decided;
}

function judge(
  { id, condition }: Rule,
  kept: { event: CountableEvent; series: string }[],
  event: CountableEvent,
  series: string,
): Decided | null {
  if (condition.kind !== 'deviation_gte') throw new Error('a rule of another kind');
  const { times, minMicros } = condition;
  const own = kept.filter((each) => each.series === series).map((each) => each.event);
  const hourOf = (each: CountableEvent) => Math.floor(each.time / HOUR);
  const spentIn = (hour: number) =>
    own.filter((each) => hourOf(each) === hour).reduce((sum, { settledMicros }) => sum + settledMicros, 0);
  const [hour, first] = [hourOf(event), Math.min(...own.map(hourOf))];
  const weeks = Array.from({ length: WEEKS }, (_, week) => hour - 168 * (week + 1)).filter((each) => each > first);
  const usual = weeks.map(spentIn).toSorted((a, b) => a - b);
  const half = usual.length / 2;
  const median = usual.length % 2 === 1 ? usual[Math.floor(half)]! : ((usual[half - 1] ?? 0) + (usual[half] ?? 0)) / 2;
  const spent = spentIn(hour);
  const isMet = (micros: number) => micros >= minMicros && micros >= times * median;
  const facts = { rule: id, event: event.id, spent, weeks: weeks.length, median: Math.floor(median) };
  const about = { ...facts, agent: series === '' ? null : series };
  const before = spent - event.settledMicros;
  if (weeks.length === 0) {
    return spent >= minMicros && before < minMicros ? { ...about, reason: 'learning' } : null;
  }
  if (!isMet(spent)) return null;
  return { ...about, reason: isMet(before) ? 'condition_still_true_after_cooldown' : 'condition_became_true' };
}

function toDecided({ rule, event, reason, evidence }: Decision): Decided {
  const { spentMicros: spent, weeks, medianMicros: median, agentId: agent } = evidence.deviation!;
  return { rule: rule.id, event: event.id, reason, spent, weeks, median, agent };
}

function expectDecisions(seed: number): Map<string, number> {
  const decided = expectSameDecisions(scenarioArbitrary, { seed, numRuns: CASES }, (scenario) => {
    const [rules, arrivals] = [rulesOf(scenario), arrivalsOf(START, scenario.events)];
    const made = decideWithRestarts(rules, arrivals, scenario.events);
    return { decided: made.map(toDecided), expected: decideByBruteForce(rules, arrivals) };
  });
  return countReasons(decided);
}

describe(`a deviation rule, in ${CASES} histories of weeks with duplicates, late events and restarts,`, () => {
  it(`decides what brute force decides: seed ${SEED}`, () => {
    const reasons = expectDecisions(SEED);
    for (const reason of ['condition_became_true', 'condition_still_true_after_cooldown', 'cooldown', 'learning']) {
      expect(reasons.get(reason)).toBeGreaterThan(CASES / 50);
    }
  });

  const randomSeed = randomInt(2 ** 31);
  it(`decides what brute force decides: random seed ${randomSeed}`, () => {
    expect(expectDecisions(randomSeed).get('condition_became_true')).toBeGreaterThan(CASES / 5);
  });
});
