import { expect, it } from '@jest/globals';
import { toAlert } from '../src/domain/alert.ts';
import { ALL_CALLS, type BudgetTerms } from '../src/domain/budget.terms.ts';
import type { CountableEvent } from '../src/domain/event.ts';
import type { Decision } from '../src/domain/evaluator.ts';
import type { SavedWindow } from '../src/domain/partition.evaluator.ts';
import { createRuleBook } from '../src/domain/rule-book.ts';
import type { Rule } from '../src/domain/rule.ts';
import { eventAt, keepWindow, openEvaluator, ruleOf, storedCopies } from './fixtures.ts';

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;
const START = Date.parse('2026-06-01T00:00:00.000Z');
/** Deviations are judged by the weeks before. */
const LEARNED = START + 28 * DAY;
const END = LEARNED + 30 * DAY;
const RUNAWAYS = 100;
const MAX_RUNAWAY_MS = 3 * HOUR;
const SAVED_EVERY = 500;

const AGENTS = ['crawler', 'planner', 'research', 'support'];
const CALLS_PER_HOUR = 30;
const MEAN_MICROS = 10_000;
/** Two days of usual spend. */
const LIMIT = 2 * 24 * CALLS_PER_HOUR * MEAN_MICROS;

const budget: BudgetTerms = {
  ...{ id: 'bud_workspace', name: 'Each agent', limitMicros: LIMIT, timezone: 'UTC' },
  ...{ period: { kind: 'day', startMonth: 1, startDay: 1 }, selector: {}, each: 'agent', excluded: [] },
};
const about = { eventTypes: ['spend.settled'], cooldownSeconds: 3600 };
const burning = (id: string, permille: number, longSeconds: number, shortSeconds: number) =>
  ruleOf({
    ...{ ...about, id, windowSeconds: longSeconds },
    condition: { kind: 'burn_rate_gte', budgetId: null, permille, longSeconds, shortSeconds },
  });
const RUNAWAY_RULES = [
  burning('rule_hour', 250, 3600, 300),
  burning('rule_minutes', 15, 300, 60),
  ruleOf({
    ...{ ...about, id: 'rule_usual', windowSeconds: 3600 },
    condition: { kind: 'deviation_gte', times: 3, minMicros: 10 * MEAN_MICROS },
  }),
];
/** Fires once in each day of an agent. */
const FORECAST_RULE = ruleOf({
  ...{ ...about, id: 'rule_forecast', cooldownSeconds: 0, windowSeconds: 86_400 },
  condition: { kind: 'forecast_gte', budgetId: null, percent: 100 },
});
const RULES = [...RUNAWAY_RULES, FORECAST_RULE];

/** Numbers from 0 to below 1, the same for a seed (mulberry32). */
function randomOf(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

/** Half as much as usual at night, and one and a half times as much in the afternoon. */
function daily(time: number): number {
  return 1 - Math.cos((2 * Math.PI * (time % DAY)) / DAY) / 2;
}

interface Runaway {
  agent: string;
  start: number;
  factor: number;
  foundAt: number | null;
  spentMicros: number;
  firedBy: string[];
}

function plannedRunaways(random: () => number): Runaway[] {
  const slot = (END - LEARNED) / RUNAWAYS;
  return Array.from({ length: RUNAWAYS }, (_, index) => ({
    agent: AGENTS[Math.floor(random() * AGENTS.length)]!,
    start: LEARNED + slot * index + random() * 2 * HOUR,
    factor: 3 + (27 * index) / (RUNAWAYS - 1),
    ...{ foundAt: null, spentMicros: 0, firedBy: [] },
  }));
}

/** The evaluator as a service that is killed with everything that it has not stored. */
function startService(rules: readonly Rule[]) {
  const book = createRuleBook();
  const [{ tenantId }] = rules as [Rule];
  book.replace(tenantId, rules);
  const stored = new Map<string, SavedWindow>();
  const open = () => openEvaluator(book, [...stored.values()], [tenantId], { of: () => budget });
  let evaluator = open();
  let unsaved: CountableEvent[] = [];
  let kills = 0;

  function save(): void {
    for (const window of storedCopies(evaluator.changed())) stored.set(window.ruleId, keepWindow(stored, window));
    evaluator.saved();
    unsaved = [];
  }

  return {
    get kills() {
      return kills;
    },
    /** The alerts of the event, the same when it is evaluated again after a kill. */
    evaluate(event: CountableEvent): Decision[] {
      unsaved.push(event);
      const decided = evaluator.evaluate(event);
      if (decided.length === 0) {
        if (unsaved.length >= SAVED_EVERY) save();
        return [];
      }
      kills += 1;
      evaluator = open();
      const again = unsaved.flatMap((each) => evaluator.evaluate(each));
      expect(again.map(idOf)).toEqual(decided.map(idOf));
      save();
      return again.filter(({ outcome }) => outcome === 'fired');
    },
  };
}

function idOf(decision: Decision): string {
  return decision.outcome === 'fired' ? toAlert(decision).id : `${decision.reason} ${decision.event.id}`;
}

/** Two months of calls, of which the first is learned from. A runaway ends when an alert names its agent. */
function run(rules: readonly Rule[], seed: number, runaways: readonly Runaway[]): { pages: number; kills: number } {
  const random = randomOf(seed);
  const service = startService(rules);
  const waiting = [...runaways];
  let running: Runaway | null = null;
  let pages = 0;
  let count = 0;
  const gap = (agent: string, time: number) => {
    const factor = running?.agent === agent ? running.factor : 1;
    return (-Math.log(1 - random()) * HOUR) / (CALLS_PER_HOUR * daily(time) * factor);
  };
  const next = new Map(AGENTS.map((agent) => [agent, START + gap(agent, START)]));
  for (;;) {
    let [agent, time] = ['', Infinity];
    for (const [each, at] of next) if (at < time) [agent, time] = [each, at];
    if (time >= END) return { pages, kills: service.kills };
    if (running !== null && time >= running.start + MAX_RUNAWAY_MS) running = null;
    if (waiting.length > 0 && time >= waiting[0]!.start) {
      running = waiting.shift()!;
      next.set(running.agent, running.start + gap(running.agent, running.start));
      continue;
    }
    count += 1;
    const settledMicros = Math.round(MEAN_MICROS * (0.5 + random()));
    const call = { agent, plan: null, model: null, provider: null, key: null, labels: {} };
    const event = { id: `e${count}`, identity: count, type: 'spend.settled', agentId: agent, settledMicros, call };
    if (running?.agent === agent) running.spentMicros += settledMicros;
    const fired = service.evaluate(eventAt(Math.floor(time), event));
    if (time >= LEARNED) pages += fired.length;
    for (const { rule, evidence } of fired) {
      const about = evidence.deviation?.agentId ?? evidence.burn?.value ?? ALL_CALLS;
      const found: Runaway | undefined = runaways.findLast((each) => each.agent === about && each.start <= time);
      found?.firedBy.push(rule.id);
      if (running === null || running.agent !== about) continue;
      running.foundAt = time;
      running = null;
    }
    next.set(agent, time + gap(agent, time));
  }
}

it('100 runaways of a month are found, half of them within 5 minutes, each before half of its budget is gone', () => {
  const runaways = plannedRunaways(randomOf(1));
  const { kills } = run(RUNAWAY_RULES, 2, runaways);
  expect(runaways.filter(({ foundAt }) => foundAt === null)).toEqual([]);
  const minutes = runaways.map(({ start, foundAt }) => (foundAt! - start) / MINUTE).toSorted((a, b) => a - b);
  expect(minutes[RUNAWAYS / 2]).toBeLessThanOrEqual(5);
  expect(Math.max(...runaways.map(({ spentMicros }) => spentMicros))).toBeLessThan(LIMIT / 2);
  // Each rule tells once of a runaway, although the service is killed with every decision.
  expect(kills).toBeGreaterThanOrEqual(RUNAWAYS);
  for (const { firedBy } of runaways) expect(firedBy.length).toBe(new Set(firedBy).size);
});

it('30 clean days have at most one alert', () => {
  expect(run(RULES, 3, []).pages).toBeLessThanOrEqual(1);
});

/** Days on which an agent spends steadily, by how many times its usual spend. */
const STEADY = [2.5, 3, 4, 6];

it('steady spending is forecast before its budget is used up, in the first half of the time, once in each day', () => {
  const random = randomOf(4);
  const service = startService([FORECAST_RULE]);
  let count = 0;
  const warned = new Map<number, { time: number; usedUpAt: number }[]>();
  const usedUp = new Map<number, number>();
  for (let day = 0; day < 28 + STEADY.length; day += 1) {
    const factor = STEADY[day - 28] ?? 1;
    let spent = 0;
    for (let time = START + day * DAY; ;) {
      time += (-Math.log(1 - random()) * HOUR) / (CALLS_PER_HOUR * daily(time) * factor);
      if (time >= START + (day + 1) * DAY) break;
      count += 1;
      const settledMicros = Math.round(MEAN_MICROS * (0.5 + random()));
      spent += settledMicros;
      if (spent >= LIMIT && !usedUp.has(day)) usedUp.set(day, time);
      const call = { agent: 'planner', plan: null, model: null, provider: null, key: null, labels: {} };
      const event = {
        id: `e${count}`,
        identity: count,
        type: 'spend.settled',
        agentId: 'planner',
        settledMicros,
        call,
      };
      const fired = service.evaluate(eventAt(Math.floor(time), event));
      const found = fired.map(({ evidence }) => ({ time, usedUpAt: evidence.forecast!.usedUpAt! }));
      if (found.length > 0) warned.set(day, [...(warned.get(day) ?? []), ...found]);
    }
  }
  expect([...usedUp.keys()]).toEqual(STEADY.map((_factor, index) => 28 + index));
  expect([...warned.keys()]).toEqual([...usedUp.keys()]);
  for (const [day, warnings] of warned) {
    const [{ time, usedUpAt }] = warnings as [(typeof warnings)[0]];
    const [start, end] = [START + day * DAY, usedUp.get(day)!];
    expect(warnings).toHaveLength(1);
    expect(time - start).toBeLessThan((end - start) / 2);
    // What it says of the end is right to half of the time that is left.
    expect(Math.abs(usedUpAt - end)).toBeLessThan((end - time) / 2);
  }
});
