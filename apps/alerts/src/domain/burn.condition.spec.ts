import { expect, it } from '@jest/globals';
import { eventAt, openEvaluator, ruleOf } from '../../test/fixtures.ts';
import type { BudgetTerms } from './budget.terms.ts';
import { createRuleBook } from './rule-book.ts';
import type { RuleCondition } from './rule-kinds.ts';

const HOUR = 3_600_000;
const START = Date.parse('2026-06-01T00:00:00.000Z');

it('a budget that is once burns within its period only', () => {
  const budget: BudgetTerms = {
    ...{ id: 'bud_1', name: 'Apollo', limitMicros: 100, timezone: 'UTC', selector: {}, each: null, excluded: [] },
    period: { kind: 'once', start: START + 3 * HOUR, end: START + 6 * HOUR },
  };
  const condition: RuleCondition = {
    kind: 'burn_rate_gte',
    ...{ budgetId: 'bud_1', permille: 250, longSeconds: 3600, shortSeconds: 300 },
  };
  const rule = ruleOf({ condition, windowSeconds: 3600, eventTypes: ['spend.settled'] });
  const book = createRuleBook();
  book.replace(rule.tenantId, [rule]);
  const evaluator = openEvaluator(book, [], [rule.tenantId], { of: () => budget });
  const call = { agent: 'a', plan: null, model: null, provider: null, key: null, labels: {} };
  const fires = [0, 3, 6].map((hours) => {
    const event = { type: 'spend.settled', settledMicros: 50, call };
    return evaluator.evaluate(eventAt(START + hours * HOUR, event)).length;
  });
  expect(fires).toEqual([0, 1, 0]);
});
