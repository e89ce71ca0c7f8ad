import { expect } from '@jest/globals';
import fc from 'fast-check';
import { toAlert } from '../src/domain/alert.ts';
import type { BudgetTerms } from '../src/domain/budget.terms.ts';
import type { CountableEvent } from '../src/domain/event.ts';
import type { Decision } from '../src/domain/evaluator.ts';
import type { SavedWindow } from '../src/domain/partition.evaluator.ts';
import { createRuleBook } from '../src/domain/rule-book.ts';
import type { Rule } from '../src/domain/rule.ts';
import { eventAt, keepWindow, openEvaluator, storedCopies } from './fixtures.ts';

/** What happens to the service after an arrival. */
interface Step {
  /** Whether everything is stored then. */
  saved: boolean;
  /** Whether memory is lost then. */
  lost: boolean;
}

/** For scenarios: some arrivals are followed by a save, and some by a loss of memory. */
export const stepArbitraries = { saved: fc.boolean(), lost: fc.constantFrom(false, false, true) };

/** A settlement of a scenario. */
interface Settlement {
  agent: string;
  model: string;
  settledMicros: number;
  /** Since the arrival of the one before. */
  passedMs: number;
  /** How long before its arrival it happened. */
  behindMs: number;
  /** It is the one so many before it, once more. */
  duplicateOf: number | null;
}

/** What arrives from `start` on. */
export function arrivalsOf(start: number, settlements: readonly Settlement[]): CountableEvent[] {
  const arrivals: CountableEvent[] = [];
  let now = start;
  for (const [index, { agent, model, settledMicros, passedMs, behindMs, duplicateOf }] of settlements.entries()) {
    now += passedMs;
    const original = duplicateOf === null ? undefined : arrivals[index - duplicateOf];
    const call = { agent, model, plan: null, provider: null, key: null, labels: {} };
    const about = { id: `e${index}`, type: 'spend.settled', agentId: agent, settledMicros, call };
    const identity = (index * 7919) % 1009;
    arrivals.push(
      original ? { ...original, receivedAt: now } : eventAt(now - behindMs, { ...about, identity, receivedAt: now }),
    );
  }
  return arrivals;
}

/** Runs the evaluator as the service does: what is decided is stored with the windows, and read again after a loss. */
export function decideWithRestarts(
  rules: readonly Rule[],
  arrivals: readonly CountableEvent[],
  steps: readonly Step[],
  budgetAt: (arrival: number) => BudgetTerms | null | undefined = () => null,
): Decision[] {
  const [{ tenantId }] = rules as [Rule];
  const book = createRuleBook();
  book.replace(tenantId, rules);
  const stored = new Map<string, SavedWindow>();
  const decided: Decision[] = [];
  const alerts = new Set<string>();
  const lossesLeft = new Set(steps.flatMap(({ lost }, index) => (lost ? [index] : [])));
  let storedUntil = 0;
  run: while (storedUntil < arrivals.length) {
    let budget = budgetAt(storedUntil);
    const evaluator = openEvaluator(book, [...stored.values()], [tenantId], { of: () => budget });
    let pending: Decision[] = [];
    for (let index = storedUntil; index < arrivals.length; index += 1) {
      budget = budgetAt(index);
      pending.push(...evaluator.evaluate(arrivals[index]!));
      if (lossesLeft.delete(index)) continue run;
      if (pending.length === 0 && !steps[index]!.saved && index < arrivals.length - 1) continue;
      for (const window of storedCopies(evaluator.changed())) stored.set(window.ruleId, keepWindow(stored, window));
      evaluator.saved();
      decided.push(...pending);
      for (const { id } of pending.filter(({ outcome }) => outcome === 'fired').map(toAlert)) {
        if (alerts.has(id)) throw new Error('an alert was made twice');
        alerts.add(id);
      }
      pending = [];
      storedUntil = index + 1;
    }
  }
  return decided;
}

interface Decided {
  rule: string;
  reason: Decision['reason'];
}

/** Expects that both decide the same in random scenarios, and returns what was decided in all of them. */
export function expectSameDecisions<S, D extends Decided>(
  scenarios: fc.Arbitrary<S>,
  { seed, numRuns }: { seed: number; numRuns: number },
  decide: (scenario: S) => { decided: D[]; expected: D[] },
): D[] {
  const all: D[] = [];
  const byRule = (decisions: D[]) => decisions.toSorted((a, b) => a.rule.localeCompare(b.rule));
  fc.assert(
    fc.property(scenarios, (scenario) => {
      const { decided, expected } = decide(scenario);
      expect(byRule(decided)).toEqual(byRule(expected));
      all.push(...expected);
    }),
    { seed, numRuns },
  );
  return all;
}

/** What becomes of a rule's judgements in the order of their events, with the cooldown of the rule. */
export function afterCooldowns<D extends Decided>({ cooldownSeconds }: Rule): (time: number, judged: D) => D[] {
  const cooldown = cooldownSeconds * 1000;
  let lastFire = -Infinity;
  return (time, judged) => {
    if (judged.reason === 'learning') return [judged];
    const still = judged.reason === 'condition_still_true_after_cooldown';
    if (cooldown > 0 && time < lastFire + cooldown) return still ? [] : [{ ...judged, reason: 'cooldown' }];
    if (still && (cooldown === 0 || lastFire === -Infinity)) return [];
    lastFire = Math.max(lastFire, time);
    return [judged];
  };
}

/** How many decisions there are for each reason. */
export function countReasons(decided: readonly Decided[]): Map<string, number> {
  const reasons = new Map<string, number>();
  for (const { reason } of decided) reasons.set(reason, 1 + (reasons.get(reason) ?? 0));
  return reasons;
}
