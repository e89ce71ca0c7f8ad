import { describe, expect, it } from '@jest/globals';
import { eventAt, ruleOf } from '../../test/fixtures.ts';
import { evaluate, openWindow } from './evaluator.ts';
import { SharedSums } from './shared-sums.ts';
import { MAX_ALERTS_PER_MINUTE, RuleHistory } from './rule.history.ts';
import type { Rule } from './rule.ts';

/** A whole minute. */
const T = 20 * 86_400_000;

/** Decides on events, one after the other. */
function deciderOf(rule: Rule) {
  const window = openWindow(rule, new RuleHistory(), { sums: new SharedSums(), budgets: { of: () => null } });
  return (time: number) => evaluate(rule, window, eventAt(time));
}

const COUNT_OF_2 = { kind: 'event_count_gte', threshold: 2 } as const;

describe('a rule', () => {
  it('fires with the event that makes its condition true, and says how long it stays so without another', () => {
    const decide = deciderOf(ruleOf({ condition: COUNT_OF_2, windowSeconds: 60 }));
    expect(decide(T)).toBeNull();
    expect(decide(T + 1000)).toMatchObject({
      ...{ outcome: 'fired', reason: 'condition_became_true', number: 1, count: 1 },
      ...{ metUntil: T + 60_000, cooldownUntil: null },
    });
    // The same event again, and another one while the condition is still true.
    expect([T + 1000, T + 2000].map(decide)).toEqual([null, null]);
  });

  it('for single requests for raises fires for each of them once; a threshold or a cooldown holds for them too', () => {
    const raise = {
      ...{ raise_id: 'rai_1', budget_id: 'bud_1', budget_name: 'Per user', extra_micros: 10, reason: 'Night run' },
      ...{ until: '2026-11-22T06:00:00.000Z', asked_by: 'Mia' },
    };
    const firedOf = (rule: Rule) => {
      const window = openWindow(rule, new RuleHistory(), { sums: new SharedSums(), budgets: { of: () => null } });
      const times = [T, T, T + 1000, T + 2000, T + 1000];
      return times.map((time) => evaluate(rule, window, { ...eventAt(time), raise })?.outcome ?? null);
    };
    const single = { condition: { kind: 'event_count_gte', threshold: 1 }, windowSeconds: 3600 } as const;
    expect(firedOf(ruleOf(single))).toEqual(['fired', null, 'fired', 'fired', null]);
    expect(firedOf(ruleOf({ ...single, condition: COUNT_OF_2 }))).toEqual([null, null, 'fired', null, null]);
    const suppressed = firedOf(ruleOf({ ...single, cooldownSeconds: 60 }));
    expect(suppressed).toEqual(['fired', null, 'suppressed', 'suppressed', null]);
  });

  it('is suppressed up to the end of its cooldown and not at it', () => {
    const decide = deciderOf(ruleOf({ windowSeconds: 1, cooldownSeconds: 60 }));
    expect(decide(T)).toMatchObject({ outcome: 'fired' });
    const cooldownUntil = T + 60_000;
    expect(decide(cooldownUntil - 1)).toMatchObject({ outcome: 'suppressed', reason: 'cooldown', cooldownUntil });
    expect(decide(cooldownUntil)).toMatchObject({ outcome: 'fired', cooldownUntil: null });
  });

  it('fires again from the end of its cooldown on while its condition is still true, and not before', () => {
    const decide = deciderOf(ruleOf({ condition: COUNT_OF_2, windowSeconds: 600, cooldownSeconds: 60 }));
    expect([T, T + 1].map(decide)).toEqual([null, expect.objectContaining({ outcome: 'fired' })]);
    expect(decide(T + 60_000)).toBeNull();
    const reason = 'condition_still_true_after_cooldown';
    expect(decide(T + 60_001)).toMatchObject({ outcome: 'fired', reason, number: 2, cooldownUntil: null });
  });

  it('makes 60 alerts in a minute of event time and no more, and each minute has its own', () => {
    const decide = deciderOf(ruleOf({ condition: { kind: 'first_occurrence' }, windowSeconds: 1 }));
    // Newest first, so each event is the first of its window.
    const times = Array.from({ length: MAX_ALERTS_PER_MINUTE + 2 }, (_, index) => T + 59_999 - index);
    const decisions = times.map(decide);
    const fired = decisions.slice(0, MAX_ALERTS_PER_MINUTE).map((decision) => decision?.outcome);
    expect(new Set(fired)).toEqual(new Set(['fired']));
    const limited = { outcome: 'suppressed', reason: 'rate_limited', cooldownUntil: null };
    expect(decisions.slice(MAX_ALERTS_PER_MINUTE)).toMatchObject([
      { ...limited, number: 61, count: 1 },
      { ...limited, number: 61, count: 2 },
    ]);
    expect(decide(T - 1)).toMatchObject({ outcome: 'fired', number: 62 });
  });

  it('that is suppressed for its alerts of the minute starts no cooldown', () => {
    const history = new RuleHistory();
    for (let n = 0; n < MAX_ALERTS_PER_MINUTE; n += 1) history.fire(eventAt(T));
    const rule = ruleOf({ windowSeconds: 1, cooldownSeconds: 10 });
    const window = openWindow(rule, history, { sums: new SharedSums(), budgets: { of: () => null } });
    const limited = { outcome: 'suppressed', reason: 'rate_limited', cooldownUntil: null };
    expect(evaluate(rule, window, eventAt(T + 10_000))).toMatchObject(limited);
    expect(evaluate(rule, window, eventAt(T + 11_000))).toMatchObject(limited);
  });
});
