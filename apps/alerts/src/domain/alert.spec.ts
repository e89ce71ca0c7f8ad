import { describe, expect, it } from '@jest/globals';
import { eventAt, ruleOf } from '../../test/fixtures.ts';
import { notificationIdOf, toAlert } from './alert.ts';
import type { CountableEvent } from './event.ts';
import { evaluate, openWindow } from './evaluator.ts';
import { SharedSums } from './shared-sums.ts';
import { RuleHistory } from './rule.history.ts';
import type { Rule } from './rule.ts';

const T = 20 * 86_400_000;

/** The alert that the rule fires with the event. Each call decides anew. */
function alertOf(rule: Rule, event: CountableEvent) {
  const decision = evaluate(
    rule,
    openWindow(rule, new RuleHistory(), { sums: new SharedSums(), budgets: { of: () => null } }),
    event,
  );
  if (decision === null) throw new Error('the rule did not fire');
  return toAlert(decision);
}

describe('an alert', () => {
  it('is the same one whenever it is decided again', () => {
    expect(alertOf(ruleOf(), eventAt(T))).toEqual(alertOf(ruleOf(), eventAt(T)));
  });

  it('is another one for another rule, revision or event', () => {
    const [rule, event] = [ruleOf({ revision: 1 }), eventAt(T, { identity: 1 })];
    const alerts = [
      alertOf(rule, event),
      alertOf({ ...rule, id: 'rule_2' }, event),
      alertOf({ ...rule, revision: 2 }, event),
      alertOf(rule, { ...event, time: T + 1 }),
      alertOf(rule, { ...event, identity: 2 }),
      // Revision and time, concatenated, have the same digits as those of the first alert.
      alertOf({ ...rule, revision: 11 }, { ...event, time: Number(String(T).slice(1)) }),
    ];
    expect(new Set(alerts.map(({ id }) => id)).size).toBe(alerts.length);
  });
});

describe('a notification', () => {
  it('is another one for another alert, channel or type, and the same at every attempt', () => {
    const ids = [
      notificationIdOf('alrt_1', 'chan_1', 'alert.fired'),
      notificationIdOf('alrt_2', 'chan_1', 'alert.fired'),
      notificationIdOf('alrt_1', 'chan_2', 'alert.fired'),
      notificationIdOf('alrt_1', 'chan_1', 'alert.resolved'),
    ];
    expect(new Set(ids).size).toBe(ids.length);
    expect(notificationIdOf('alrt_1', 'chan_1', 'alert.fired')).toBe(ids[0]);
  });
});
