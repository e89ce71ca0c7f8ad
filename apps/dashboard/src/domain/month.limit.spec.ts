import { describe, expect, it } from '@jest/globals';
import { type BudgetPeriod, type CalendarPeriod, MAX_MICROS, monthSpan, periodAt } from '@tollkeeper/kernel';
import { isPartly, limitsOver } from './month.limit.ts';

const of = (kind: CalendarPeriod['kind'], startDay = 1, startMonth = 1) => ({ kind, startMonth, startDay });
const at = (text: string) => Date.parse(text);
const over = (month: string, limitMicros: number, period: BudgetPeriod, timezone = 'UTC') =>
  limitsOver(monthSpan(month, timezone), timezone)(limitMicros, period);

describe('what a limit comes to over a month', () => {
  it.each([
    ['2026-11', of('day'), 'UTC', 30],
    ['2028-02', of('day'), 'UTC', 29],
    ['2026-10', of('day'), 'Europe/Paris', 31],
    ['2026-03', of('day'), 'America/New_York', 31],
    ['2026-11', of('hour'), 'UTC', 720],
    ['2026-10', of('hour'), 'Europe/Paris', 745],
    ['2026-11', of('month'), 'UTC', 1],
    ['2026-10', of('month'), 'Australia/Lord_Howe', 1],
    ['2026-11', of('week'), 'UTC', 30 / 7],
    ['2026-11', of('quarter'), 'UTC', 30 / 92],
    ['2026-11', of('year'), 'UTC', 30 / 365],
    // Half of the month until 15 November, and 16 days of the next one.
    ['2026-11', of('month', 15), 'UTC', 14 / 31 + 16 / 30],
    ['2026-11', { kind: 'rolling', seconds: 3_600 }, 'UTC', 720],
    ['2026-11', { kind: 'once', start: at('2026-11-10T00:00:00Z'), end: at('2026-11-20T00:00:00Z') }, 'UTC', 1],
    ['2026-11', { kind: 'once', start: at('2026-10-22T00:00:00Z'), end: at('2026-11-11T00:00:00Z') }, 'UTC', 0.5],
    ['2026-11', { kind: 'once', start: at('2026-12-01T00:00:00Z'), end: at('2026-12-11T00:00:00Z') }, 'UTC', 0],
  ] as const)('%s with %j in %s is %d times the limit', (month, period, timezone, times) => {
    expect(over(month, 1_000_000, period, timezone)).toBe(Math.round(1_000_000 * times));
  });

  it('of three months is that of their quarter, also of days and of quarters that begin in another month', () => {
    for (const [period, times] of [
      [of('quarter'), 1],
      [of('day'), 92],
    ] as const) {
      const sum = ['2026-10', '2026-11', '2026-12'].reduce((all, month) => all + over(month, 9_200, period), 0);
      expect(sum).toBe(9_200 * times);
    }
  });

  it('counts each whole period in the month once, in zones with clock changes', () => {
    for (const timezone of [
      'Europe/Paris',
      'America/New_York',
      'Australia/Lord_Howe',
      'Pacific/Chatham',
      'Africa/Cairo',
    ]) {
      for (let month = 1; month <= 12; month += 1) {
        const name = `2026-${String(month).padStart(2, '0')}`;
        const { start, end } = monthSpan(name, timezone);
        let days = 0;
        for (let time = start; time < end; time = periodAt(of('day'), timezone, time).end) days += 1;
        expect([name, over(name, 7, of('day'), timezone)]).toEqual([name, 7 * days]);
      }
    }
  });

  it('is never above the largest amount', () => {
    expect(over('2026-11', MAX_MICROS, of('day'))).toBe(MAX_MICROS);
  });
});

it('a budget that is for once is for a part of the month unless it has all of it', () => {
  const month = monthSpan('2026-11', 'UTC');
  const once = (start: number, end: number) => isPartly(month, { kind: 'once', start, end });
  expect([once(month.start, month.end), once(month.start - 1, month.end + 1)]).toEqual([false, false]);
  expect([once(month.start + 1, month.end), once(month.start, month.end - 1)]).toEqual([true, true]);
  expect(isPartly(month, of('day'))).toBe(false);
});
