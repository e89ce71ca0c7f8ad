import { describe, expect, it } from '@jest/globals';
import { MAX_MICROS, resolveRange } from '@tollkeeper/kernel';
import { budgetUsedPct, windowBudget } from './budget.ts';

const window = (range: string, zone: string, now: string) => resolveRange(range, zone, Date.parse(now));

describe('windowBudget', () => {
  it('counts the daily budget once for each local day that the window touches', () => {
    expect(windowBudget(100, window('today', 'UTC', '2026-11-21T12:00:00Z'))).toBe(100);
    expect(windowBudget(100, window('current_month', 'UTC', '2026-11-21T12:00:00Z'))).toBe(2100);
    expect(windowBudget(100, window('30min', 'Asia/Kathmandu', '2026-11-21T18:20:00Z'))).toBe(200);
  });

  it('stays null when no budget is set, and never exceeds the largest amount', () => {
    expect(windowBudget(null, window('3m', 'UTC', '2026-11-21T12:00:00Z'))).toBeNull();
    expect(windowBudget(MAX_MICROS, window('3m', 'UTC', '2026-11-21T12:00:00Z'))).toBe(MAX_MICROS);
  });
});

describe('budgetUsedPct', () => {
  const today = window('today', 'UTC', '2026-11-21T12:00:00Z');

  it('is the share of the budget in percent with 2 decimals, above 100 when overspent', () => {
    expect(budgetUsedPct(1, 3, today)).toBe(33.33);
    expect(budgetUsedPct(450, 300, today)).toBe(150);
  });

  it('is 0 when no budget is set or it allows nothing', () => {
    expect([budgetUsedPct(5, null, today), budgetUsedPct(5, 0, today)]).toEqual([0, 0]);
  });
});
