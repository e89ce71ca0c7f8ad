import { describe, expect, it } from '@jest/globals';
import type { Api } from '@tollkeeper/client';
import { mediansOf } from '../web/src/pages/budgets/medians.ts';
import { readPasted } from '../web/src/pages/budgets/pasted.ts';
import { findBudgetsAtRisk, forecastOf, riskOf, usedOf } from '../web/src/pages/budgets/risk.ts';
import { orderOf, rowsOf, valueRowsOf } from '../web/src/pages/budgets/sheet-rows.ts';

const START = Date.parse('2026-03-01T00:00:00.000Z');
const DAY_MS = 86_400_000;

function limit(change: Partial<Api.Limit> & { kind?: string }): Api.Limit {
  const { kind = 'month', ...rest } = change;
  const period = { kind, start: new Date(START).toISOString(), end: new Date(START + 30 * DAY_MS).toISOString() };
  return { spent_micros: 0, held_micros: 0, limit_micros: 100, period, ...rest } as Api.Limit;
}

function budget(id: string, change: Partial<Api.Budget> = {}): Api.Budget {
  const fixed = { selector: {}, each: null, overrides: null, period: { kind: 'day' }, action: 'deny' } as const;
  return { id, name: id, limit_micros: 100, grace_percent: 0, ...fixed, ...change } as Api.Budget;
}

const after = (days: number): number => START + days * DAY_MS;

describe('the forecast of a budget', () => {
  it('divides its spend by the part of the period that has passed, from 5 percent on', () => {
    const spent = limit({ spent_micros: 30 });
    expect(forecastOf(spent, after(1.49))).toBeNull();
    expect(forecastOf(spent, after(1.5))).toBe(600);
    expect(forecastOf(spent, after(15))).toBe(60);
    expect(forecastOf(spent, after(30))).toBe(30);
    expect(forecastOf(spent, after(31))).toBe(30);
  });

  it.each(['rolling', 'decade'])('is unknown for a period of the kind %s', (kind) => {
    expect(forecastOf(limit({ spent_micros: 30, kind }), after(15))).toBeNull();
  });
});

describe('the risk of a budget', () => {
  it.each([
    [{ spent_micros: 79 }, 30, false],
    [{ spent_micros: 80 }, 30, true],
    [{ spent_micros: 50 }, 15, false],
    [{ spent_micros: 51 }, 15, true],
    [{ spent_micros: 51 }, 1, false],
    [{ spent_micros: 51, kind: 'rolling' }, 15, false],
    [{ spent_micros: 0, limit_micros: 0 }, 15, false],
    [{ spent_micros: 9, limit_micros: 0 }, 15, false],
  ])('of %j after %d of 30 days is to be shown: %s', (spent, days, expected) => {
    expect(findBudgetsAtRisk([limit(spent)], after(days), 5)).toHaveLength(expected ? 1 : 0);
  });

  it('is the larger of what is used and what is forecast', () => {
    expect(riskOf(limit({ spent_micros: 30 }), after(1))).toBe(0.3);
    expect(riskOf(limit({ spent_micros: 30 }), after(15))).toBe(0.6);
    expect([usedOf(limit({ limit_micros: 0 })), riskOf(limit({ limit_micros: 0 }), after(15))]).toEqual([1, 1]);
  });
});

describe('the budgets at risk', () => {
  const limits = [
    limit({ budget_id: 'calm', spent_micros: 10 }),
    limit({ budget_id: 'split', value: 'ada', spent_micros: 85 }),
    limit({ budget_id: 'split', value: 'zoe', spent_micros: 95 }),
    limit({ budget_id: 'hot', spent_micros: 90 }),
    limit({ budget_id: 'over', spent_micros: 120 }),
  ];
  const found = (most: number) =>
    findBudgetsAtRisk(limits, after(30), most).map(({ limit: { budget_id, value } }) => [budget_id, value]);

  it('are each once, the highest risk first, and at most as many as there is room for', () => {
    expect(found(5)).toEqual([
      ['over', undefined],
      ['split', 'zoe'],
      ['hot', undefined],
    ]);
    expect(found(2)).toEqual([
      ['over', undefined],
      ['split', 'zoe'],
    ]);
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
  const rows = rowsOf({ budgets, limits, now: after(15), zone: 'UTC' });

  it('have of a budget with several limits the one with the highest risk', () => {
    expect(rows.map(({ key, limit: own }) => [key, own?.value])).toEqual([
      ['calm', undefined],
      ['split', 'zoe'],
      ['new', undefined],
      ['hot', undefined],
    ]);
    expect(valueRowsOf(rows[1]!, limits.slice(1, 3), after(15)).map(({ value }) => value)).toEqual(['zoe', 'ada']);
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
      now: START,
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
  const [all, split, idle, key, off] = rowsOf({ budgets, limits: [reader], now: START, zone: 'UTC' });
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
    const writer = valueRowsOf(split!, [limit({ value: 'writer' })], START)[0]!;
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
