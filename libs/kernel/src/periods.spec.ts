import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { budgetSpanAt, CALENDAR_PERIODS, type CalendarPeriod, countedSince, periodAt } from './periods.ts';

const at = (text: string) => Date.parse(text);
const hours = ({ start, end }: { start: number; end: number }) => (end - start) / 3_600_000;
const period = (kind: CalendarPeriod['kind'], startMonth = 1, startDay = 1) => ({ kind, startMonth, startDay });

const QUARTER_HOUR = 900_000;
const formats = new Map<string, Intl.DateTimeFormat>();

function dateIn(timeZone: string, time: number) {
  const known = formats.get(timeZone);
  const date = { year: 'numeric', month: 'numeric', day: 'numeric', hour: 'numeric' } as const;
  const options = { timeZone, hourCycle: 'h23', timeZoneName: 'longOffset', ...date } as const;
  const format = known ?? new Intl.DateTimeFormat('en', options);
  formats.set(timeZone, format);
  const parts = new Map(format.formatToParts(time).map(({ type, value }) => [type, value]));
  const [year, month, day] = ['year', 'month', 'day'].map((name) => Number(parts.get(name as 'year'))) as [
    number,
    number,
    number,
  ];
  return { year, month, day, hour: `${parts.get('hour')} ${parts.get('timeZoneName')}` };
}

/** A name of the period of a time: two times with the same name that are near each other are in one period. */
function nameOf({ kind, startMonth, startDay }: CalendarPeriod, timezone: string, time: number): string {
  const { year, month, day, hour } = dateIn(timezone, time);
  const months = year * 12 + month - 1 - (day < startDay ? 1 : 0);
  switch (kind) {
    case 'hour':
      return `${year}-${month}-${day} ${hour}`;
    case 'day':
      return `${year}-${month}-${day}`;
    case 'week':
      // 1970-01-05 was a Monday.
      return String(Math.floor((Date.UTC(year, month - 1, day) / 86_400_000 - 4) / 7));
    case 'month':
      return String(months);
    case 'quarter':
      return String(Math.floor((months - (startMonth - 1)) / 3));
    case 'year':
      return String(Math.floor((months - (startMonth - 1)) / 12));
  }
}

describe('periodAt', () => {
  it.each([
    ['day', 'Europe/Paris', '2026-03-29T12:00:00Z', 23],
    ['day', 'Europe/Paris', '2026-10-25T12:00:00Z', 25],
    ['month', 'Europe/Paris', '2026-03-15T12:00:00Z', 743],
    ['month', 'UTC', '2028-02-15T12:00:00Z', 29 * 24],
    ['week', 'UTC', '2026-11-29T23:59:59Z', 168],
    ['hour', 'Asia/Kathmandu', '2026-11-29T23:59:59Z', 1],
    ['year', 'UTC', '2026-11-29T23:59:59Z', 365 * 24],
  ] as const)('gives a %s in %s at %s its %s hours', (kind, timezone, time, length) => {
    expect(hours(periodAt(period(kind), timezone, at(time)))).toBe(length);
  });

  it('ends an hour where clocks move within it, so that no hour has a time of another one', () => {
    const hourAt = (time: string) => {
      const { start, end } = periodAt(period('hour'), 'Australia/Lord_Howe', at(time));
      return [start, end].map((each) => new Date(each).toISOString().slice(11, 16));
    };
    // Clocks go back by half an hour at 15:00, and forward at 15:30.
    expect(['14:59', '15:10', '15:30'].map((time) => hourAt(`2026-04-04T${time}:00Z`))).toEqual([
      ['14:00', '15:00'],
      ['15:00', '15:30'],
      ['15:30', '16:30'],
    ]);
    expect(['15:29', '15:40'].map((time) => hourAt(`2026-10-03T${time}:00Z`))).toEqual([
      ['14:30', '15:30'],
      ['15:30', '16:00'],
    ]);
  });

  it('moves months, quarters and years to a fiscal calendar', () => {
    const span = (of: CalendarPeriod, time: string) => {
      const { start, end } = periodAt(of, 'UTC', at(time));
      return [start, end].map((each) => new Date(each).toISOString().slice(0, 10));
    };
    expect(span(period('month', 1, 28), '2026-03-27T23:59:59Z')).toEqual(['2026-02-28', '2026-03-28']);
    expect(span(period('month', 1, 28), '2026-03-28T00:00:00Z')).toEqual(['2026-03-28', '2026-04-28']);
    expect(span(period('quarter', 2, 1), '2026-01-31T12:00:00Z')).toEqual(['2025-11-01', '2026-02-01']);
    expect(span(period('year', 4, 6), '2026-04-05T12:00:00Z')).toEqual(['2025-04-06', '2026-04-06']);
    expect(span(period('year', 10, 1), '2026-11-05T12:00:00Z')).toEqual(['2026-10-01', '2027-10-01']);
  });

  it('is the time around an instant on which the calendar says the same, in any zone', () => {
    const zones = Intl.supportedValuesOf('timeZone');
    fc.assert(
      fc.property(
        fc.record({
          kind: fc.constantFrom(...CALENDAR_PERIODS),
          startMonth: fc.integer({ min: 1, max: 12 }),
          startDay: fc.integer({ min: 1, max: 28 }),
        }),
        fc.constantFrom(...zones),
        fc.integer({ min: at('2020-01-01T00:00:00Z'), max: at('2030-01-01T00:00:00Z') }),
        (of, timezone, time) => {
          const { start, end } = periodAt(of, timezone, time);
          expect(start <= time && time < end).toBe(true);
          const name = nameOf(of, timezone, time);
          const names = [start - 1, start, end - 1, end].map((each) => nameOf(of, timezone, each));
          expect(names.map((each) => each === name)).toEqual([false, true, true, false]);
          expect([start % QUARTER_HOUR, end % QUARTER_HOUR]).toEqual([0, 0]);
        },
      ),
      { numRuns: 2_000 },
    );
  });
});

describe('budgetSpanAt', () => {
  const once = { kind: 'once', start: at('2026-11-21T10:00:00Z'), end: at('2026-11-21T11:00:00Z') } as const;
  const rolling = { kind: 'rolling', seconds: 7_200 } as const;

  it('is that of the calendar for each time and zone, also when one period is asked for several', () => {
    const day = period('day');
    const asked = [
      ...([
        ['2026-03-29T12:00:00Z', 'Europe/Paris'],
        ['2026-03-29T12:00:00Z', 'UTC'],
      ] as const),
      ...([
        ['2026-03-29T21:59:59Z', 'UTC'],
        ['2026-03-29T22:00:00Z', 'Europe/Paris'],
      ] as const),
    ];
    for (const [time, zone] of asked) {
      expect(budgetSpanAt(day, zone, at(time))).toEqual(periodAt(day, zone, at(time)));
      expect(countedSince(day, budgetSpanAt(day, zone, at(time))!)).toBe(periodAt(day, zone, at(time)).start);
    }
  });

  it('is null before and after a period that is once', () => {
    const times = [once.start - 1, once.start, once.end - 1, once.end];
    const span = { start: once.start, end: once.end };
    expect(times.map((time) => budgetSpanAt(once, 'UTC', time))).toEqual([null, span, span, null]);
  });

  it('is a 60th of a rolling period, which counts 60 of them up to the end of the current one', () => {
    const span = budgetSpanAt(rolling, 'UTC', at('2026-11-21T10:03:59.999Z'))!;
    expect(span).toEqual({ start: at('2026-11-21T10:02:00Z'), end: at('2026-11-21T10:04:00Z') });
    expect(countedSince(rolling, span)).toBe(at('2026-11-21T08:04:00Z'));
  });
});
