import { describe, expect, it } from '@jest/globals';
import { RANGE_KINDS, resolveRange } from '@tollkeeper/kernel';
import fc from 'fast-check';
import { seriesOf } from './series.ts';

const at = (text: string) => Date.parse(text);
const seriesAt = (range: string, zone: string, now: string) => seriesOf(resolveRange(range, zone, at(now)));

describe('seriesOf', () => {
  it('cuts each range into the interval that gives 12 to 120 points', () => {
    const now = '2026-11-21T18:34:56.789Z';
    const shape = RANGE_KINDS.map((range) => {
      const { interval, points } = seriesAt(range, 'UTC', now);
      return [range, interval, points.length];
    });
    expect(shape).toEqual([
      ['15s', '1s', 15],
      ['30s', '1s', 30],
      ['1min', '1s', 60],
      ['5min', '5s', 60],
      ['10min', '5s', 120],
      ['15min', '15s', 60],
      ['30min', '15s', 120],
      ['45min', '1min', 45],
      ['today', '1h', 19],
      ['yesterday', '1h', 24],
      ['1m', '1d', 32],
      ['3m', '1d', 93],
      ['current_month', '1d', 21],
      ['last_week', '1d', 7],
      ['last_month', '1d', 31],
      ['last_quarter', '1d', 92],
    ]);
  });

  it('covers the window without gap or overlap, in order', () => {
    const zones = Intl.supportedValuesOf('timeZone');
    fc.assert(
      fc.property(
        fc.constantFrom(...RANGE_KINDS),
        fc.constantFrom(...zones),
        fc.integer({ min: at('2026-01-01T00:00:00Z'), max: at('2027-01-01T00:00:00Z') }),
        (range, zone, now) => {
          const window = resolveRange(range, zone, now);
          let end = window.start;
          const { points } = seriesOf(window);
          for (const point of points) {
            if (point.start !== end || point.end <= point.start) return false;
            end = point.end;
          }
          return end === window.end && points.length <= 125;
        },
      ),
      { seed: 20261121, numRuns: 2000 },
    );
  });

  it('gives a day with a clock change 23 or 25 hours, or a half hour where clocks move by 30 minutes', () => {
    expect(seriesAt('yesterday', 'Europe/Berlin', '2026-03-30T09:00:00Z').points).toHaveLength(23);
    expect(seriesAt('yesterday', 'Europe/Berlin', '2026-10-26T09:00:00Z').points).toHaveLength(25);
    const lordHowe = seriesAt('yesterday', 'Australia/Lord_Howe', '2026-04-05T20:00:00Z').points;
    expect(lordHowe).toHaveLength(25);
    expect(lordHowe.at(-1)!.end - lordHowe.at(-1)!.start).toBe(1_800_000);
  });

  it('starts a new count of hours with each day of several, also after clocks moved by 30 minutes', () => {
    const { interval, points } = seriesAt('current_month', 'Australia/Lord_Howe', '2026-10-05T01:00:00Z');
    expect(interval).toBe('1h');
    const starts = points.map(({ start }) => new Date(start).toISOString());
    expect(starts).toContain('2026-10-04T13:00:00.000Z');
    expect(starts).not.toContain('2026-10-04T13:30:00.000Z');
  });

  it('cuts less than an hour evenly, also where midnight lies in it', () => {
    const { points } = seriesAt('15min', 'UTC', '2026-11-21T00:05:00.500Z');
    expect(new Set(points.map(({ start, end }) => end - start))).toEqual(new Set([15_000]));
  });

  it('starts days and hours at the local clock', () => {
    const days = seriesAt('1m', 'Asia/Kathmandu', '2026-11-21T18:34:56.789Z').points;
    expect(new Date(days[1]!.start).toISOString()).toBe('2026-10-22T18:15:00.000Z');
    const hours = seriesAt('today', 'Pacific/Chatham', '2026-11-21T08:00:00Z').points;
    expect(new Date(hours[0]!.start).toISOString()).toBe('2026-11-20T10:15:00.000Z');
  });

  it('gives no point for a day that begins this instant', () => {
    expect(seriesAt('today', 'UTC', '2026-11-21T00:00:00Z').points).toEqual([]);
  });
});
