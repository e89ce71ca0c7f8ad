import { describe, expect, it } from '@jest/globals';
import { eventAt } from '../../test/fixtures.ts';
import { MAX_LATENESS_MS, MAX_RECEIPT_DISORDER_MS } from './event.ts';
import { MAX_ALERTS_PER_MINUTE, RuleHistory } from './rule.history.ts';

const MINUTE_MS = 60_000;
/** A whole minute. */
const T = 20 * 86_400_000;

describe('the history of a rule', () => {
  it('begins empty', () => {
    expect(new RuleHistory().save()).toEqual({ lastFiredAt: null, decisions: 0, minutes: [] });
  });

  it('numbers decisions from 1; what is suppressed in a minute for one reason stays one, with its count', () => {
    const history = new RuleHistory();
    expect(history.fire(eventAt(T))).toEqual({ number: 1, count: 1 });
    expect(history.suppress(eventAt(T), 'cooldown')).toEqual({ number: 2, count: 1 });
    expect(history.suppress(eventAt(T + 1), 'rate_limited')).toEqual({ number: 3, count: 1 });
    expect(history.suppress(eventAt(T + MINUTE_MS), 'cooldown')).toEqual({ number: 4, count: 1 });
    expect(history.suppress(eventAt(T + MINUTE_MS - 1), 'cooldown')).toEqual({ number: 2, count: 2 });
  });

  it('knows the newest time that the rule fired at, whatever fires later with an older event', () => {
    const history = new RuleHistory();
    for (const time of [T, T + 5, T + 3]) history.fire(eventAt(time));
    expect(history.lastFiredAt).toBe(T + 5);
  });

  it('continues from what was saved, which no later decision changes', () => {
    const history = new RuleHistory();
    history.fire(eventAt(T));
    history.suppress(eventAt(T), 'cooldown');
    const saved = history.save();
    const restored = new RuleHistory(saved);
    for (const each of [history, restored]) {
      expect(each.suppress(eventAt(T + 1), 'cooldown')).toEqual({ number: 2, count: 2 });
      expect(each.fire(eventAt(T + 2))).toEqual({ number: 3, count: 1 });
      expect(each.suppress(eventAt(T + 3), 'rate_limited')).toEqual({ number: 4, count: 1 });
    }
    expect(restored.save()).toEqual(history.save());
    expect(new RuleHistory(saved).suppress(eventAt(T + 1), 'cooldown')).toEqual({ number: 2, count: 2 });
  });

  it('keeps a minute for as long as its events can arrive, and then forgets it', () => {
    const history = new RuleHistory();
    for (let n = 0; n < MAX_ALERTS_PER_MINUTE; n += 1) history.fire(eventAt(T));
    // The latest receipt, after the last event of the minute, at which an event of the minute still counts.
    const lastReceived = T + MINUTE_MS - 1 + MAX_LATENESS_MS + MAX_RECEIPT_DISORDER_MS;
    history.fire(eventAt(lastReceived));
    expect(history.hasFiredEnough(eventAt(T + MINUTE_MS - 1))).toBe(true);
    expect(history.save().minutes).toHaveLength(2);
    history.fire(eventAt(lastReceived + MINUTE_MS));
    expect(history.save().minutes.map(({ minute }) => minute * MINUTE_MS)).not.toContain(T);
  });
});
