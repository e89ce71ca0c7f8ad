import { describe, expect, it } from '@jest/globals';
import { eventAt, openEvaluator, ruleOf, storedCopies } from '../../test/fixtures.ts';
import type { PartitionEvaluator } from './partition.evaluator.ts';
import { createRuleBook } from './rule-book.ts';
import type { Rule } from './rule.ts';

const T = 20 * 86_400_000;
const DAY_SECONDS = 86_400;
const spendOf = (id: string, thresholdMicros: number, given: Partial<Rule> = {}): Rule =>
  ruleOf({ id, condition: { kind: 'spend_gte', thresholdMicros }, windowSeconds: DAY_SECONDS, ...given });

function bookOf(...rules: Rule[]) {
  const book = createRuleBook();
  book.replace(rules[0]!.tenantId, rules);
  return book;
}

/** Settles 1 micro at each of these times, a second apart. Returns which rules fired with which. */
function settle(evaluator: PartitionEvaluator, from: number, until: number): string[] {
  const fired: string[] = [];
  for (let n = from; n <= until; n += 1) {
    for (const { rule, outcome } of evaluator.evaluate(eventAt(T + n * 1000, { settledMicros: 1 }))) {
      if (outcome === 'fired') fired.push(`${rule.id} at ${n}`);
    }
  }
  return fired;
}

const savedSums = (evaluator: PartitionEvaluator) =>
  Array.from(evaluator.changed(), ({ condition }) => {
    if (condition.kind !== 'spend_gte') throw new Error('not about spend');
    return condition.sum;
  });

describe('rules about the spend of the same window', () => {
  const rules = Array.from({ length: 100 }, (_, index) => spendOf(`rule_${index}`, 100_000 + index));

  it('take memory for their entries once', () => {
    const [one, all] = [openEvaluator(bookOf(rules[0]!)), openEvaluator(bookOf(...rules))];
    for (const evaluator of [one, all]) settle(evaluator, 1, 3000);
    const perRule = (all.bytes - one.bytes) / (rules.length - 1);
    expect(one.bytes).toBeGreaterThan(3000 * 32);
    expect(perRule).toBeLessThan(2500);
  });

  it('are saved with their entries once, whole and in parts', () => {
    const evaluator = openEvaluator(bookOf(...rules));
    settle(evaluator, 1, 3000);
    const whole = savedSums(evaluator);
    expect(whole.map(({ entries }) => entries.length).toSorted((a, b) => b - a)).toEqual([
      3000 * 4,
      ...Array.from({ length: 99 }, () => 0),
    ]);
    expect(new Set(whole.map(({ sharedAs, apart, size }) => `${sharedAs} ${apart} ${size}`)).size).toBe(1);
    expect(evaluator.changedSize.bytes).toBeLessThan(3000 * 32 + 100 * 3000);
    evaluator.saved();
    settle(evaluator, 3001, 3010);
    expect(savedSums(evaluator).reduce((sum, { entries }) => sum + entries.length, 0)).toBe(10 * 4);
  });

  it('each fire at their own threshold, also after they were stored and one of them is gone', () => {
    const some = [spendOf('rule_10', 10), spendOf('rule_30', 30), spendOf('rule_20', 20)];
    const before = openEvaluator(bookOf(...some));
    expect(settle(before, 1, 15)).toEqual(['rule_10 at 10']);
    const stored = storedCopies(before.changed());
    const after = openEvaluator(bookOf(...some.slice(1)), stored);
    expect(settle(after, 16, 40)).toEqual(['rule_20 at 20', 'rule_30 at 30']);
  });

  it('start anew one by one, without any effect on the others', () => {
    const [first, second, third] = [spendOf('rule_1', 20), spendOf('rule_2', 20), spendOf('rule_3', 25)];
    const book = bookOf(first, second, third);
    const evaluator = openEvaluator(book);
    settle(evaluator, 1, 15);
    book.replace(first.tenantId, [{ ...first, revision: 2 }, second, third]);
    expect(settle(evaluator, 16, 40)).toEqual(['rule_2 at 20', 'rule_3 at 25', 'rule_1 at 35']);
    const apart = new Set(savedSums(evaluator).map(({ sharedAs }) => sharedAs));
    expect(apart).toContain(null);
    expect(apart.size).toBe(2);
  });

  it('decide the same whether they stay in memory or are read again in any order, also when they merge entries', () => {
    const some = [spendOf('rule_42', 6000), spendOf('rule_96', 7000), spendOf('rule_7', 100_000)];
    const book = bookOf(...some);
    const stay = openEvaluator(book);
    const fired = settle(stay, 1, 3900);
    const saved = storedCopies(stay.changed());
    const backwards = openEvaluator(book, saved.toReversed());
    // Duplicates of settlements in merged entries count again, so the decisions show which are merged.
    const goOn = (evaluator: PartitionEvaluator) => [
      ...settle(evaluator, 3901, 5200),
      ...settle(evaluator, 3000, 4600),
      ...settle(evaluator, 5201, 7000),
    ];
    const first = goOn(stay);
    expect(fired).toEqual([]);
    expect(first).toHaveLength(2);
    expect(goOn(backwards)).toEqual(first);
    expect(savedSums(backwards).map(({ size, shareAt }) => [size, shareAt])).toEqual(
      savedSums(stay).map(({ size, shareAt }) => [size, shareAt]),
    );
  });

  it('share also after they were stored empty', () => {
    const book = bookOf(...rules);
    const before = openEvaluator(book);
    settle(before, 1, 1);
    book.replace(
      rules[0]!.tenantId,
      rules.map((rule) => ({ ...rule, revision: 2 })),
    );
    const after = openEvaluator(book, storedCopies(before.changed()));
    settle(after, 2, 3000);
    expect(after.bytes).toBeLessThan(600_000);
  });

  it('take the memory of what they share also when the first of them is gone', () => {
    const book = bookOf(...rules.slice(0, 2));
    const evaluator = openEvaluator(book);
    settle(evaluator, 1, 3000);
    evaluator.saved();
    const before = evaluator.bytes;
    book.replace(rules[0]!.tenantId, [rules[1]!]);
    expect([...evaluator.changed()]).toEqual([]);
    expect(evaluator.bytes).toBeGreaterThan(3000 * 32);
    expect(evaluator.bytes).toBeLessThan(before);
  });

  it('part where only some count an event, since it was received before the others were made', () => {
    const old = [spendOf('rule_1', 3), spendOf('rule_2', 4)];
    const young = [spendOf('rule_3', 3, { effectiveAt: new Date(T + 5000) }), spendOf('rule_4', 4)];
    const rulesOf = [...old, young[0]!, { ...young[1]!, effectiveAt: new Date(T + 5000) }];
    const evaluator = openEvaluator(bookOf(...rulesOf));
    const settleAt = (time: number, receivedAt: number) =>
      evaluator
        .evaluate(eventAt(T + time, { receivedAt: T + receivedAt, settledMicros: 1 }))
        .map(({ rule }) => rule.id);
    expect(settleAt(1000, 5000)).toEqual([]);
    expect(new Set(savedSums(evaluator).map(({ sharedAs }) => sharedAs)).size).toBe(1);
    evaluator.saved();
    expect(settleAt(2000, 4999)).toEqual([]);
    // Those that do not count the event are as they were stored.
    expect(Array.from(evaluator.changed(), ({ ruleId }) => ruleId)).toEqual(['rule_1', 'rule_2']);
    expect(settleAt(3000, 5001)).toEqual(['rule_1']);
    expect(settleAt(4000, 5002)).toEqual(['rule_2', 'rule_3']);
    expect(settleAt(5000, 5003)).toEqual(['rule_4']);
    expect(new Set(savedSums(evaluator).map(({ sharedAs }) => sharedAs)).size).toBe(2);
  });
});
