import { describe, expect, it } from '@jest/globals';
import {
  canonicalTimezone,
  comparedSpan,
  localDays,
  monthAt,
  monthSpan,
  RANGE_KINDS,
  resolveRange,
} from './calendar.ts';

const at = (text: string) => Date.parse(text);
const iso = (epochMs: number) => new Date(epochMs).toISOString();
const hours = (span: { start: number; end: number }) => (span.end - span.start) / 3_600_000;

/** Accepted by `Intl` as time zones but not by Temporal, because each stands for several zones. */
const ICU_ABBREVIATIONS =
  'ACT AET AGT ART AST BET BST CAT CNT CST CTT EAT ECT IET IST JST MIT NET NST PLT PNT PRT PST SST VST'.split(' ');

describe('canonicalTimezone', () => {
  it('takes IANA names and their links', () => {
    for (const name of ['UTC', 'Asia/Kathmandu', 'Pacific/Chatham', 'Australia/Lord_Howe', 'Asia/Calcutta']) {
      expect(canonicalTimezone(name)).toBe(name);
    }
  });

  it('refuses offsets, unknown names and rubbish', () => {
    for (const name of ['+05:30', 'Mars/Olympus', '', 'Europe/Berlin\u0000', '$gt', '__proto__']) {
      expect(canonicalTimezone(name)).toBeNull();
    }
  });

  it('knows every zone that the runtime lists', () => {
    expect(Intl.supportedValuesOf('timeZone').filter((name) => canonicalTimezone(name) === null)).toEqual([]);
  });

  it('has one spelling of each zone, which it knows whatever the case', () => {
    const names = ['UTC', 'Etc/GMT+5', ...Intl.supportedValuesOf('timeZone')];
    expect(names.map((name) => canonicalTimezone(name.toLowerCase()))).toEqual(names);
    expect(canonicalTimezone('Mars/Olympus')).toBeNull();
  });

  it('refuses the abbreviations that only ICU takes for time zones', () => {
    for (const name of ICU_ABBREVIATIONS) expect([name, canonicalTimezone(name)]).toEqual([name, null]);
  });

  it('is true for no name that the calendar throws on', () => {
    const span = { start: at('2026-03-29T00:00:00Z'), end: at('2026-03-30T00:00:00Z') };
    const names = [
      ...Intl.supportedValuesOf('timeZone'),
      ...ICU_ABBREVIATIONS,
      'EST',
      'GMT',
      'Etc/GMT+5',
      'utc',
      'T12Z',
    ];
    for (const name of names.filter((name) => canonicalTimezone(name) !== null)) {
      for (const kind of RANGE_KINDS) expect(() => resolveRange(kind, name, span.end)).not.toThrow();
      expect(() => localDays(span, name)).not.toThrow();
    }
  });
});

describe('resolveRange', () => {
  const now = at('2026-03-31T10:20:30.456Z');

  it('ends rolling ranges now and reaches back by their length', () => {
    expect(resolveRange('45min', 'Asia/Tokyo', now)).toEqual({
      kind: '45min',
      start: now - 45 * 60_000,
      end: now,
      timezone: 'Asia/Tokyo',
    });
  });

  it('takes an unknown and an absent range as current_month', () => {
    expect(resolveRange('fortnight', 'UTC', now)).toEqual(resolveRange('current_month', 'UTC', now));
    expect(resolveRange(undefined, 'UTC', now)).toEqual(resolveRange('current_month', 'UTC', now));
  });

  it('starts today and the month at local midnight', () => {
    expect(iso(resolveRange('today', 'Asia/Kathmandu', now).start)).toBe('2026-03-30T18:15:00.000Z');
    // In Chatham, 13 h 45 min ahead, it is already five past midnight on the first of April.
    expect(iso(resolveRange('current_month', 'Pacific/Chatham', now).start)).toBe('2026-03-31T10:15:00.000Z');
    expect(iso(resolveRange('current_month', 'UTC', now).start)).toBe('2026-03-01T00:00:00.000Z');
  });

  it('gives yesterday 23 and 25 hours across a clock change', () => {
    const spring = resolveRange('yesterday', 'Europe/Berlin', at('2026-03-30T09:00:00Z'));
    const autumn = resolveRange('yesterday', 'Europe/Berlin', at('2026-10-26T09:00:00Z'));
    expect([hours(spring), hours(autumn)]).toEqual([23, 25]);
  });

  it('gives yesterday 24.5 hours where clocks move by 30 minutes', () => {
    expect(hours(resolveRange('yesterday', 'Australia/Lord_Howe', at('2026-04-05T20:00:00Z')))).toBe(24.5);
  });

  it('reaches back calendar months, to the last day of a shorter month', () => {
    expect(iso(resolveRange('1m', 'UTC', now).start)).toBe('2026-02-28T10:20:30.456Z');
    expect(iso(resolveRange('3m', 'UTC', now).start)).toBe('2025-12-31T10:20:30.456Z');
  });

  it.each([
    // A Monday, and a Sunday; March has 743 hours in Paris.
    ['last_week', 'UTC', '2026-03-30T00:00:00Z', '2026-03-23T00:00:00.000Z', '2026-03-30T00:00:00.000Z'],
    ['last_week', 'UTC', '2026-03-29T23:59:59Z', '2026-03-16T00:00:00.000Z', '2026-03-23T00:00:00.000Z'],
    ['last_month', 'Europe/Paris', '2026-04-02T09:00:00Z', '2026-02-28T23:00:00.000Z', '2026-03-31T22:00:00.000Z'],
    ['last_month', 'UTC', '2026-01-31T09:00:00Z', '2025-12-01T00:00:00.000Z', '2026-01-01T00:00:00.000Z'],
    ['last_quarter', 'UTC', '2026-03-31T23:59:59Z', '2025-10-01T00:00:00.000Z', '2026-01-01T00:00:00.000Z'],
    ['last_quarter', 'Asia/Kathmandu', '2026-12-31T09:00:00Z', '2026-06-30T18:15:00.000Z', '2026-09-30T18:15:00.000Z'],
  ])('gives %s in %s at %s whole, from %s to %s', (range, zone, now, start, end) => {
    const window = resolveRange(range, zone, at(now));
    expect([window.kind, iso(window.start), iso(window.end)]).toEqual([range, start, end]);
  });

  it('keeps the wall-clock time across a clock change', () => {
    expect(iso(resolveRange('1m', 'America/New_York', at('2026-03-20T12:00:00Z')).start)).toBe(
      '2026-02-20T13:00:00.000Z',
    );
  });

  it('starts a day whose midnight does not exist at its first instant', () => {
    // Beirut moves from 00:00 to 01:00 on 2026-03-29.
    const window = resolveRange('today', 'Asia/Beirut', at('2026-03-29T12:00:00Z'));
    expect(iso(window.start)).toBe('2026-03-28T22:00:00.000Z');
  });

  it('gives every range a start before or at its end in every zone', () => {
    for (const zone of Intl.supportedValuesOf('timeZone')) {
      for (const kind of RANGE_KINDS) {
        const window = resolveRange(kind, zone, now);
        expect(window.start).toBeLessThanOrEqual(window.end);
      }
    }
  });
});

describe('comparedSpan', () => {
  const compared = (range: string, zone: string, now: string) => {
    const { start, end } = comparedSpan(resolveRange(range, zone, at(now)));
    return [iso(start), iso(end)];
  };

  it.each([
    ['15min', 'UTC', '2026-11-21T18:30:00.000Z', ['2026-11-21T18:00:00.000Z', '2026-11-21T18:15:00.000Z']],
    ['today', 'UTC', '2026-11-21T18:30:00.000Z', ['2026-11-20T00:00:00.000Z', '2026-11-20T18:30:00.000Z']],
    ['yesterday', 'UTC', '2026-11-21T18:30:00.000Z', ['2026-11-19T00:00:00.000Z', '2026-11-20T00:00:00.000Z']],
    ['current_month', 'UTC', '2026-11-21T18:30:00.000Z', ['2026-10-01T00:00:00.000Z', '2026-10-21T18:30:00.000Z']],
    ['1m', 'UTC', '2026-11-21T18:30:00.000Z', ['2026-09-21T18:30:00.000Z', '2026-10-21T18:30:00.000Z']],
    ['3m', 'UTC', '2026-11-21T18:30:00.000Z', ['2026-05-21T18:30:00.000Z', '2026-08-21T18:30:00.000Z']],
    ['last_week', 'UTC', '2026-11-21T18:30:00.000Z', ['2026-11-02T00:00:00.000Z', '2026-11-09T00:00:00.000Z']],
    ['last_month', 'UTC', '2026-11-21T18:30:00.000Z', ['2026-09-01T00:00:00.000Z', '2026-10-01T00:00:00.000Z']],
    ['last_quarter', 'UTC', '2026-11-21T18:30:00.000Z', ['2026-04-01T00:00:00.000Z', '2026-07-01T00:00:00.000Z']],
  ])('of %s in %s at %s is the same part of the time before', (range, zone, now, span) => {
    expect(compared(range, zone, now)).toEqual(span);
  });

  it.each([
    // 1 November has 25 hours in Havana.
    ['2026-11-01T04:00:00.000Z', '2026-11-02T05:00:00.000Z', '2026-10-31T04:00:00.000Z'],
    ['2026-11-01T05:00:00.000Z', '2026-11-01T07:00:00.000Z', '2026-11-01T03:00:00.000Z'],
  ])('of the time from %s to %s in Havana begins at %s', (from, to, start) => {
    const span = { kind: 'custom', start: at(from), end: at(to), timezone: 'America/Havana' } as const;
    expect(comparedSpan(span)).toEqual({ start: at(start), end: at(from) });
  });

  it('ends today’s at the same wall-clock time, also over a clock change', () => {
    // In Berlin the clocks went back on the 25th; 12:00 is 10:00 UTC before and 11:00 UTC after.
    expect(compared('today', 'Europe/Berlin', '2026-10-25T11:00:00.000Z')).toEqual([
      '2026-10-23T22:00:00.000Z',
      '2026-10-24T10:00:00.000Z',
    ]);
  });

  it('ends with the last month where that is shorter', () => {
    expect(compared('current_month', 'UTC', '2026-03-31T12:00:00.000Z')).toEqual([
      '2026-02-01T00:00:00.000Z',
      '2026-02-28T12:00:00.000Z',
    ]);
  });

  it('lies before its window, and starts before or at its end, in every zone', () => {
    for (const zone of Intl.supportedValuesOf('timeZone')) {
      for (const kind of RANGE_KINDS) {
        const window = resolveRange(kind, zone, at('2026-03-29T12:34:56.789Z'));
        const span = comparedSpan(window);
        expect([zone, kind, span.start <= span.end, span.end <= window.start]).toEqual([zone, kind, true, true]);
      }
    }
  });
});

describe('localDays', () => {
  it('covers the span without gap or overlap, and touches only days of it', () => {
    for (const zone of ['UTC', 'Asia/Kathmandu', 'Pacific/Chatham', 'Australia/Lord_Howe', 'America/St_Johns']) {
      const span = { start: at('2026-03-01T05:07:09Z'), end: at('2026-11-30T23:59:59Z') };
      const days = localDays(span, zone);
      expect(days[0]!.start).toBeLessThanOrEqual(span.start);
      expect(days[0]!.end).toBeGreaterThan(span.start);
      expect(days.at(-1)!.start).toBeLessThan(span.end);
      expect(days.at(-1)!.end).toBeGreaterThanOrEqual(span.end);
      days.slice(1).forEach((day, index) => expect(day.start).toBe(days[index]!.end));
    }
  });

  it('gives the clock-change days their real length', () => {
    const lengths = (zone: string, start: string, end: string) => [
      ...new Set(localDays({ start: at(start), end: at(end) }, zone).map(hours)),
    ];
    expect(lengths('Europe/Berlin', '2026-03-27T12:00:00Z', '2026-03-31T12:00:00Z')).toEqual([24, 23]);
    expect(lengths('Pacific/Chatham', '2026-04-02T12:00:00Z', '2026-04-07T12:00:00Z')).toEqual([24, 25]);
    expect(lengths('Australia/Lord_Howe', '2026-10-02T12:00:00Z', '2026-10-06T12:00:00Z')).toEqual([24, 23.5]);
  });

  it('starts each day at a multiple of 15 minutes in every zone in use', () => {
    for (const zone of Intl.supportedValuesOf('timeZone')) {
      const days = localDays({ start: at('2026-08-01T00:00:00Z'), end: at('2026-11-21T00:00:00Z') }, zone);
      expect(days.filter((day) => day.start % 900_000 !== 0)).toEqual([]);
    }
  });

  it('counts one day for an instant and none for an empty span', () => {
    const start = at('2026-06-01T00:00:00Z');
    expect(localDays({ start, end: start + 1 }, 'UTC')).toHaveLength(1);
    expect(localDays({ start, end: start }, 'UTC')).toEqual([]);
  });

  it('skips the date that a zone never had', () => {
    // Samoa crossed the date line: 2011-12-30 does not exist there.
    const days = localDays({ start: at('2011-12-29T12:00:00Z'), end: at('2011-12-31T12:00:00Z') }, 'Pacific/Apia');
    expect(days.every((day) => day.end > day.start)).toBe(true);
  });
});

describe('a month', () => {
  it('is the time in which the calendar of the zone names it, in every zone', () => {
    for (const timezone of Intl.supportedValuesOf('timeZone')) {
      const format = new Intl.DateTimeFormat('en-CA', { timeZone: timezone, year: 'numeric', month: '2-digit' });
      const named = (epochMs: number) => {
        const parts = new Map(format.formatToParts(epochMs).map(({ type, value }) => [type, value]));
        return `${parts.get('year')}-${parts.get('month')}`;
      };
      for (const month of ['2026-10', '2028-02']) {
        const { start, end } = monthSpan(month, timezone);
        const names = [start - 1, start, end - 1, end].map(named);
        expect([timezone, ...names.map((name) => name === month)]).toEqual([timezone, false, true, true, false]);
        expect([start, end - 1, end].map((time) => monthAt(time, timezone))).toEqual([month, month, names[3]]);
        expect(monthAt(start, timezone, 1)).toBe(names[0]);
      }
    }
  });

  it('before another one is that of the calendar, whatever its day', () => {
    expect(monthAt(at('2026-03-31T23:00:00Z'), 'UTC', 1)).toBe('2026-02');
    expect(monthAt(at('2026-01-31T23:00:00Z'), 'Europe/Paris', 1)).toBe('2026-01');
    expect(monthAt(at('2026-11-30T00:00:00Z'), 'UTC', -2)).toBe('2027-01');
  });
});
