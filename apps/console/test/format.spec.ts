import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { labelled, steps } from '../web/src/charts/ticks.ts';
import { editableMoney, exactMoney, money, parseMoney, shortMoney } from '../web/src/format/money.ts';
import { change, count, percent } from '../web/src/format/numbers.ts';
import { dates, dateTimeOf, duration, relative, timeLeft } from '../web/src/format/time.ts';
import { dayOf, startOfDay } from '../web/src/format/zoned.ts';

const micros = fc.integer({ min: 0, max: Number.MAX_SAFE_INTEGER });

describe('money', () => {
  it('is written to the micro and read back the same, whatever the amount', () => {
    fc.assert(
      fc.property(micros, (amount) => {
        expect(parseMoney(exactMoney(amount))).toBe(amount);
        expect(parseMoney(editableMoney(amount))).toBe(amount);
      }),
    );
  });

  it('to the cent is never more than half a cent from the amount', () => {
    fc.assert(
      fc.property(micros, (amount) => {
        const shown = BigInt(parseMoney(money(amount)) ?? -1);
        const off = shown - BigInt(amount);
        expect(off >= -5_000n && off <= 5_000n).toBe(true);
      }),
    );
  });

  it.each([
    [0, '$0.00', '$0.00'],
    [1, '$0.000001', '$0.000001'],
    [6_200, '$0.0062', '$0.0062'],
    [9_999, '$0.009999', '$0.009999'],
    [10_000, '$0.01', '$0.01'],
    [14_999, '$0.01', '$0.014999'],
    [15_000, '$0.02', '$0.015'],
    [999_999, '$1.00', '$0.999999'],
    [11_840_123, '$11.84', '$11.840123'],
    [1_234_500_000, '$1,234.50', '$1,234.50'],
    [-2_500_000, '−$2.50', '−$2.50'],
    [9_007_199_254_740_991, '$9,007,199,254.74', '$9,007,199,254.740991'],
  ])('of %d micros is %s, exactly %s', (amount, short, exact) => {
    expect([money(amount), exactMoney(amount)]).toEqual([short, exact]);
  });

  it.each([
    [999_000_000, '$999.00'],
    [1_200_000_000, '$1.2K'],
    [3_450_000_000_000, '$3.5M'],
  ])('of %d micros is %s where there is little room', (amount, text) => {
    expect(shortMoney(amount)).toBe(text);
  });

  it.each([
    ['12', 12_000_000],
    [' $1,250.50 ', 1_250_500_000],
    ['.5', 500_000],
    ['0.000001', 1],
    ['9007199254.740991', Number.MAX_SAFE_INTEGER],
  ])('typed as %p is %d micros', (text, expected) => {
    expect(parseMoney(text)).toBe(expected);
  });

  it.each(['', '$', 'twelve', '1.2.3', '-1', '1e3', '0.0000001', '12,50', '1,2345', '9007199254.740992', '∞', '1 000'])(
    'typed as %p is no amount',
    (text) => {
      expect(parseMoney(text)).toBeNull();
    },
  );
});

describe('numbers', () => {
  it.each([
    [0, '0%'],
    [0.0001, '<1%'],
    [0.5, '50%'],
    [0.9999, '99%'],
    [1, '100%'],
    [12.5, '1,250%'],
  ])('a part of %d is %s: nothing and all are only what is exactly that', (part, text) => {
    expect(percent(part)).toBe(text);
  });

  it.each([
    [9_999, '9,999'],
    [12_345, '12.3K'],
    [1_900_000, '1.9M'],
  ])('%d is %s', (value, text) => {
    expect(count(value)).toBe(text);
  });

  it('has no change in percent from nothing', () => {
    expect([change(5, 0), change(6, 4), change(2, 4)]).toEqual([null, 0.5, -0.5]);
  });
});

describe('times', () => {
  it.each([
    [500, 'just now', '0 s'],
    [9_000, 'in 9 s', '9 s'],
    [41 * 60_000, 'in 41 min', '41 min'],
    [(7 * 60 + 14) * 60_000, 'in 7 h', '7 h 14 min'],
    [3 * 86_400_000 + 1, 'in 3 d', '3 d'],
  ])('%d ms away is %s, and lasts %s', (ms, away, length) => {
    expect([relative(ms, 0), duration(ms)]).toEqual([away, length]);
  });

  it.each([
    [-1_000, '0 s'],
    [1, '1 s'],
    [1_000, '1 s'],
    [1_001, '2 s'],
    [59_001, '1 min'],
    [60_000, '1 min'],
    [60_001, '2 min'],
    [14 * 60_000 + 1, '15 min'],
    [59 * 60_000 + 1, '1 h'],
    [90 * 60_000 + 1, '1 h 31 min'],
  ])('%d ms are left for %s, which is never too short a wait', (ms, text) => {
    expect(timeLeft(ms)).toBe(text);
  });

  it.each([
    ['2026-11-22', 'UTC', '2026-11-22T00:00:00.000Z', 24],
    ['2026-03-29', 'Europe/Zurich', '2026-03-28T23:00:00.000Z', 23],
    ['2026-10-25', 'Europe/Zurich', '2026-10-24T22:00:00.000Z', 25],
    ['2026-11-01', 'America/New_York', '2026-11-01T04:00:00.000Z', 25],
    // Midnight does not exist on the first two, and comes twice on the last.
    ['2026-09-06', 'America/Santiago', '2026-09-06T04:00:00.000Z', 23],
    ['2026-03-08', 'America/Havana', '2026-03-08T05:00:00.000Z', 23],
    ['2026-11-01', 'America/Havana', '2026-11-01T04:00:00.000Z', 25],
    ['2026-05-01', 'Asia/Kathmandu', '2026-04-30T18:15:00.000Z', 24],
  ])('the day %s in %s begins at %s and has %d hours', (day, zone, start, hours) => {
    expect(startOfDay(day, zone)).toBe(start);
    const end = startOfDay(day, zone, true);
    expect(Date.parse(end) - Date.parse(start)).toBe(hours * 3_600_000);
    expect([dayOf(Date.parse(start), zone), dayOf(Date.parse(end) - 1, zone)]).toEqual([day, day]);
  });
});

it.each([
  ['2026-09-30T22:00:00Z', '2026-10-31T23:00:00Z', '1 – 31 Oct 2026'],
  ['2025-12-28T23:00:00Z', '2026-01-04T23:00:00Z', '29 Dec 2025 – 4 Jan 2026'],
  ['2026-10-24T22:00:00Z', '2026-10-25T23:00:00Z', '25 Oct 2026'],
])('the span from %s to %s has the days %s', (start, end, days) => {
  expect(dates({ start, end }, 'Europe/Zurich').replaceAll(/\s/g, ' ')).toBe(days);
});

describe('a time in a list', () => {
  it.each([
    ['2026-11-22T15:02:09Z', 'Europe/Zurich', '22 Nov, 16:02:09'],
    ['2025-12-31T23:30:00Z', 'Europe/Zurich', '1 Jan, 00:30:00'],
    ['2025-12-31T22:30:00Z', 'Europe/Zurich', '31 Dec 2025, 23:30:00'],
  ])('%s in %s is %s: the year stands there where it is another one', (at, zone, text) => {
    expect(dateTimeOf(at, zone, Date.parse('2026-11-25T00:00:00Z'))).toBe(text);
  });
});

describe('the labels of an axis', () => {
  it.each([
    [24, 8, [0, 3, 6, 9, 12, 15, 18, 21]],
    [106, 8.7, [0, 15, 30, 45, 60, 75, 90, 105]],
    [31, 5, [0, 7, 14, 21, 28]],
    [1, 2, [0]],
    [0, 2, []],
  ])('of %d points with room for %d stand at steps that people count in', (points, most, labels) => {
    expect(labelled(points, most)).toEqual(labels);
  });
});

describe('the grid of a chart', () => {
  it.each([
    [1_930_000, [0, 500_000, 1_000_000, 1_500_000, 2_000_000]],
    [2_000_000, [0, 500_000, 1_000_000, 1_500_000, 2_000_000]],
    [2_000_001, [0, 1_000_000, 2_000_000, 3_000_000]],
    [14_345_678, [0, 5_000_000, 10_000_000, 15_000_000]],
    [1, [0, 1]],
    [0, []],
  ])('up to %d stands at round values, the last of which is no lower', (highest, values) => {
    expect(steps(highest, 4)).toEqual(values);
  });
});
