import { describe, expect, it } from '@jest/globals';
import type { Api } from '@tollkeeper/client';
import { mediansOf } from '../web/src/pages/budgets/medians.ts';
import { readPasted } from '../web/src/pages/budgets/pasted.ts';
import { riskOf, usedOf } from '../web/src/pages/budgets/risk.ts';
import { orderOf, rowsOf, valueRowsOf } from '../web/src/pages/budgets/sheet-rows.ts';

function limit(change: Partial<Api.Limit>): Api.Limit {
  return { spent_micros: 0, held_micros: 0, limit_micros: 100, pace_end_micros: null, ...change } as Api.Limit;
}

function budget(id: string, change: Partial<Api.Budget> = {}): Api.Budget {
  const fixed = { selector: {}, each: null, overrides: null, period: { kind: 'day' }, action: 'deny' } as const;
  return { id, name: id, limit_micros: 100, grace_percent: 0, ...fixed, ...change } as Api.Budget;
}

describe('the risk of a budget', () => {
  it('is the part of the limit that will be spent, or that is spent if its pace is unknown', () => {
    expect(riskOf(limit({ spent_micros: 30 }))).toBe(0.3);
    expect(riskOf(limit({ spent_micros: 30, pace_end_micros: 60 }))).toBe(0.6);
    expect([usedOf(limit({ limit_micros: 0 })), riskOf(limit({ limit_micros: 0 }))]).toEqual([1, 1]);
  });
});

describe('the rows of the worksheet', () => {
  const budgets = [
    budget('calm', { limit_micros: 300 }),
    budget('split', { each: 'label:user' }),
    budget('new'),
    budget('hot', { limit_micros: 200 }),
  ];
  const limits = [
    limit({ budget_id: 'calm', spent_micros: 10 }),
    limit({ budget_id: 'split', value: 'ada', spent_micros: 20 }),
    limit({ budget_id: 'split', value: 'zoe', spent_micros: 40 }),
    limit({ budget_id: 'hot', spent_micros: 90 }),
  ];
  const rows = rowsOf({ budgets, limits, zone: 'UTC' });

  it('have of a budget with several limits the one with the highest risk', () => {
    expect(rows.map(({ key, limit: own }) => [key, own?.value])).toEqual([
      ['calm', undefined],
      ['split', 'zoe'],
      ['new', undefined],
      ['hot', undefined],
    ]);
    expect(valueRowsOf(rows[1]!, limits.slice(1, 3)).map(({ value }) => value)).toEqual(['zoe', 'ada']);
  });

  it('stand in the chosen order, after the one that a link leads to', () => {
    expect(orderOf(rows, 'risk', undefined)).toEqual(['hot', 'split', 'calm', 'new']);
    expect(orderOf(rows, 'name', undefined)).toEqual(['calm', 'hot', 'new', 'split']);
    expect(orderOf(rows, 'limit', undefined)).toEqual(['calm', 'hot', 'new', 'split']);
    expect(orderOf(rows, 'risk', 'new')).toEqual(['new', 'hot', 'split', 'calm']);
  });

  it('name the budget that another one overrides', () => {
    const [, zoe] = rowsOf({
      budgets: [budget('split', { each: 'label:user' }), budget('zoe', { overrides: 'split' })],
      limits: [],
      zone: 'UTC',
    });
    expect(zoe?.says).toContain('instead of the limit of “split”');
  });
});

describe('the median day of a row', () => {
  const reader = limit({ budget_id: 'split', value: 'reader' });
  const budgets = [
    budget('all', { is_active: true }),
    budget('split', { each: 'agent', is_active: true }),
    budget('idle', { each: 'agent', is_active: true }),
    budget('key', { selector: { key: 'k' }, is_active: true }),
    budget('off', { is_active: false }),
  ];
  const [all, split, idle, key, off] = rowsOf({ budgets, limits: [reader], zone: 'UTC' });
  const values = [{ value: 'reader', median_micros: 7 }];
  const answerWith = (more: object): Api.BudgetMedians =>
    ({
      items: [
        { budget_id: 'all', median_micros: 9 },
        { budget_id: 'split', median_micros: null, values, ...more },
        { budget_id: 'idle', median_micros: null, values: [] },
        { budget_id: 'key', median_micros: null, unknown: 'not_counted' },
      ],
    }) as object as Api.BudgetMedians;
  const medianOf = mediansOf(answerWith({}), false);

  it('is that of the budget, or of the value that the row is for', () => {
    expect([medianOf(all!), medianOf(split!)]).toEqual([{ micros: 9 }, { micros: 7 }]);
    const writer = valueRowsOf(split!, [limit({ value: 'writer' })])[0]!;
    expect(medianOf(writer)).toEqual({ micros: 0 });
    expect(mediansOf(answerWith({ more_values: true }), false)(writer)).toEqual({
      why: expect.stringContaining('too many values'),
    });
  });

  it('is not known for some, which say why', () => {
    const whys = [medianOf(idle!), medianOf(key!), medianOf(off!), mediansOf(undefined, true)(all!)];
    expect(whys).toMatchObject([
      { why: expect.stringContaining('no value has spend') },
      { why: expect.stringContaining('counted by agent, model, plan and tracked label') },
      { why: expect.stringContaining('only active budgets') },
      { why: expect.stringContaining('at the moment') },
    ]);
  });
});

describe('a pasted column', () => {
  it.each([
    ['12\n$1,250.50\r\n\r\n0.000001\n', 4, [12_000_000, 1_250_500_000, null, 1]],
    ['12\tApril\n13\tMay', 2, [12_000_000, 13_000_000]],
    ['5', 3, [5_000_000, 5_000_000, 5_000_000]],
  ])('has an amount, or nothing, for each row: %j', (pasted, count, amounts) => {
    expect(readPasted(pasted, count)).toEqual({ amounts });
  });

  it.each([
    ['12\ntwelve', 2, 'Line 2: “twelve” is no amount, such as 12.50.'],
    ['1.250,50', 1, 'Line 1: “1.250,50” is no amount, such as 12.50.'],
    ['1\n2', 3, '2 amounts for 3 selected budgets. Paste one line for each.'],
    ['', 2, '1 amount for 2 selected budgets. Paste one line for each.'],
  ])('is refused if it does not fit: %j', (pasted, count, problem) => {
    expect(readPasted(pasted, count)).toEqual({ problem });
  });
});
