import { describe, expect, it } from '@jest/globals';
import { eventAt, openEvaluator, ruleOf } from '../../test/fixtures.ts';
import type { PartitionEvaluator, SavedWindow } from './partition.evaluator.ts';
import { createRuleBook } from './rule-book.ts';
import type { Rule } from './rule.ts';

const T = 20 * 86_400_000;
const COUNT_OF_2 = { kind: 'event_count_gte', threshold: 2 } as const;
const first = ruleOf({ id: 'rule_1', condition: COUNT_OF_2 });
const second = ruleOf({ id: 'rule_2', condition: COUNT_OF_2 });

const changedOf = (evaluator: PartitionEvaluator): SavedWindow[] => [...evaluator.changed()];

function bookOf(...rules: Rule[]) {
  const book = createRuleBook();
  book.replace(first.tenantId, rules);
  return book;
}

describe('the windows of a partition', () => {
  it('decide nothing with a late event, and do not change with it', () => {
    const evaluator = openEvaluator(bookOf(ruleOf()));
    expect(evaluator.evaluate(eventAt(T, { receivedAt: T + 300_001 }))).toEqual([]);
    expect([changedOf(evaluator), evaluator.changedSize]).toEqual([[], { windows: 0, bytes: 0 }]);
    expect(evaluator.evaluate(eventAt(T, { receivedAt: T + 300_000 }))).toHaveLength(1);
  });

  it('are saved when they changed, each once, with no less than their size', () => {
    const evaluator = openEvaluator(bookOf(first, second));
    evaluator.evaluate(eventAt(T));
    const { windows, bytes } = evaluator.changedSize;
    expect(windows).toBe(2);
    evaluator.evaluate(eventAt(T + 1));
    expect(evaluator.changedSize).toEqual({ windows: 2, bytes: bytes + 2 * 16 });
    const changed = changedOf(evaluator);
    expect(changed.map(({ ruleId, metUntil }) => [ruleId, metUntil])).toEqual([
      ['rule_1', T + 60_000],
      ['rule_2', T + 60_000],
    ]);
    expect(evaluator.changedSize.bytes).toBeGreaterThan(JSON.stringify(changed).length);

    evaluator.saved();
    expect([changedOf(evaluator), evaluator.changedSize]).toEqual([[], { windows: 0, bytes: 0 }]);
    evaluator.evaluate(eventAt(T + 2));
    expect(evaluator.changedSize.windows).toBe(2);
  });

  it('are saved by what is new of them, however large they are', () => {
    const rules = Array.from({ length: 300 }, (_, index) => {
      return ruleOf({ id: `rule_${index}`, condition: { kind: 'event_count_gte', threshold: 1000 } });
    });
    const evaluator = openEvaluator(bookOf(...rules));
    for (let n = 0; n < 999; n += 1) evaluator.evaluate(eventAt(T + n));
    expect(evaluator.changedSize.bytes).toBeGreaterThan(300 * 999 * 16);
    evaluator.saved();
    evaluator.evaluate(eventAt(T + 1000));
    expect(evaluator.changedSize.bytes).toBeLessThan(1_000_000);
    for (const { condition } of changedOf(evaluator)) {
      expect(condition).toMatchObject({ sum: { size: 1000, entries: Float64Array.of(T + 1000, T + 1000) } });
    }
  });

  it('continue from what was saved of the same revision', () => {
    const restarted = openEvaluator(bookOf(first), savedAfterOneEvent());
    expect(restarted.evaluate(eventAt(T + 1))).toMatchObject([{ outcome: 'fired' }]);
  });

  it.each([
    ['get a new revision', { ...first, revision: 2 }],
    ['are disabled', { ...first, enabled: false }],
  ])('begin empty where their rules %s, whenever that happens', (_how, changed) => {
    const book = bookOf(first);
    const running = openEvaluator(book, savedAfterOneEvent());
    book.replace(first.tenantId, [changed]);
    running.changed();
    // Enabled again with the same revision, which no edit does, to see what is left of the window.
    book.replace(first.tenantId, [{ ...changed, enabled: true }]);
    expect(running.evaluate(eventAt(T + 1))).toEqual([]);

    const late = bookOf(changed);
    const restarted = openEvaluator(late, savedAfterOneEvent());
    late.replace(first.tenantId, [{ ...changed, enabled: true }]);
    expect(restarted.evaluate(eventAt(T + 1))).toEqual([]);
  });

  it('stay as they are when other rules change', () => {
    const book = bookOf(first, second);
    const evaluator = openEvaluator(book);
    evaluator.evaluate(eventAt(T));
    book.replace(first.tenantId, [first, { ...second, revision: 2 }]);
    expect(evaluator.evaluate(eventAt(T + 1))).toMatchObject([{ outcome: 'fired', rule: { id: 'rule_1' } }]);
  });

  it('are gone with their rules, whenever that happens', () => {
    const book = bookOf(first, second);
    const evaluator = openEvaluator(book);
    evaluator.evaluate(eventAt(T));
    book.replace(first.tenantId, [second]);
    expect(changedOf(evaluator).map(({ ruleId }) => ruleId)).toEqual(['rule_2']);

    const restarted = openEvaluator(bookOf(second), savedAfterOneEvent());
    restarted.evaluate(eventAt(T));
    expect(changedOf(restarted).map(({ ruleId }) => ruleId)).toEqual(['rule_2']);
  });
});

/** Half of what the first rule needs to fire. */
function savedAfterOneEvent() {
  const evaluator = openEvaluator(bookOf(first));
  evaluator.evaluate(eventAt(T));
  return changedOf(evaluator);
}
