import { describe, expect, it } from '@jest/globals';
import { provenTenantId } from '@tollkeeper/kernel';
import { objectKeyOf, scheduleCalendar } from './schedule.ts';

const at = (text: string) => Date.parse(text);
const iso = (time: number) => new Date(time).toISOString();

describe('the schedule of files', () => {
  it('has the local day or month before, each due once at the local time of day, also where clocks change', () => {
    const daily = scheduleCalendar('daily', 'Europe/Paris', '08:00');
    const monthly = scheduleCalendar('monthly', 'Europe/Paris', '08:00');
    // Clocks go back on 25 October.
    expect([daily.dueAt('2026-10-23'), daily.dueAt('2026-10-24'), monthly.dueAt('2026-10-01')].map(iso)).toEqual([
      '2026-10-24T06:00:00.000Z',
      '2026-10-25T07:00:00.000Z',
      '2026-11-01T07:00:00.000Z',
    ]);
    const { start, end } = daily.spanOf('2026-10-25');
    expect((end - start) / 3_600_000).toBe(25);
    expect([daily.next('2026-10-25'), monthly.next('2026-12-01')]).toEqual(['2026-10-26', '2027-01-01']);
  });

  it('is due every day, an hour later where clocks skip the time of day', () => {
    const calendar = scheduleCalendar('daily', 'Europe/Paris', '02:30');
    expect([calendar.dueAt('2026-03-27'), calendar.dueAt('2026-03-28')].map(iso)).toEqual([
      '2026-03-28T01:30:00.000Z',
      '2026-03-29T01:30:00.000Z',
    ]);
  });

  it('begins with the period in progress, and goes back a month of days and a year of months', () => {
    const now = at('2026-11-30T23:30:00Z');
    const names = (kind: 'daily' | 'monthly', timezone: string) => {
      const calendar = scheduleCalendar(kind, timezone, '08:00');
      return [calendar.oldest(now), calendar.lastEnded(now), calendar.at(now)];
    };
    expect(names('daily', 'UTC')).toEqual(['2026-10-30', '2026-11-29', '2026-11-30']);
    expect(names('daily', 'Europe/Paris')).toEqual(['2026-10-31', '2026-11-30', '2026-12-01']);
    expect(names('monthly', 'Europe/Paris')).toEqual(['2025-12-01', '2026-11-01', '2026-12-01']);
  });

  it('names the object by the workspace and the period alone, so that a repeat replaces it', () => {
    const of = { prefix: 'spend/', extension: 'csv' };
    const tenantId = provenTenantId('ws_1');
    expect([
      objectKeyOf(of, { tenantId, kind: 'daily', period: '2026-11-29' }),
      objectKeyOf(of, { tenantId, kind: 'monthly', period: '2026-11-01' }),
    ]).toEqual(['spend/ws_1/daily/2026-11-29.csv', 'spend/ws_1/monthly/2026-11.csv']);
  });
});
