import { describe, expect, it } from '@jest/globals';
import type { Api } from '@tollkeeper/client';
import { addUp, barsOf, projectionOf } from '../web/src/charts/run-up.ts';
import { titlesOf } from '../web/src/charts/titles.ts';
import { unfinishedOf } from '../web/src/charts/unfinished.ts';
import { parseChartSearch } from '../web/src/pages/budgets/chart-search.ts';
import { limitOf } from '../web/src/pages/budgets/span-limit.ts';

const HOUR_MS = 3_600_000;
const at = (time: string) => Date.parse(time);

describe('the bars of a day or a month', () => {
  it.each([
    ['2026-03-28T23:00:00Z', 'Europe/Paris', 23],
    ['2026-10-24T22:00:00Z', 'Europe/Paris', 25],
    ['2026-10-25T23:00:00Z', 'Europe/Paris', 24],
    ['2026-11-21T00:00:00Z', 'UTC', 24],
  ])('from %s in %s are the hours to its end, however long it is: %d', (start, zone, hours) => {
    const bars = barsOf('day', at(start), zone);
    expect([bars.length - 1, bars[0], (bars.at(-1)! - at(start)) / HOUR_MS]).toEqual([hours, at(start), hours]);
  });

  it('end with half an hour where the clocks move by one', () => {
    const start = at('2026-04-04T13:00:00Z');
    const bars = barsOf('day', start, 'Australia/Lord_Howe');
    expect([bars.length - 1, (bars.at(-1)! - start) / HOUR_MS]).toEqual([25, 24.5]);
  });

  it.each([
    ['2026-02-28T23:00:00Z', 'Europe/Paris', 31, 743],
    ['2026-02-01T00:00:00Z', 'UTC', 28, 672],
    ['2028-02-01T00:00:00Z', 'UTC', 29, 696],
    ['2026-12-01T05:00:00Z', 'America/New_York', 31, 744],
    ['2011-12-01T10:00:00Z', 'Pacific/Apia', 30, 720],
  ])('from %s in %s are the days to its end', (start, zone, days, hours) => {
    const bars = barsOf('month', at(start), zone);
    expect([bars.length - 1, (bars.at(-1)! - at(start)) / HOUR_MS]).toEqual([days, hours]);
  });

  it('have titles of their own, also where clocks show an hour twice', () => {
    const titles = titlesOf(barsOf('day', at('2026-10-24T22:00:00Z'), 'Europe/Paris').slice(0, -1), 'Europe/Paris');
    expect(titles.slice(1, 5)).toEqual([
      '25 Oct 2026, 01:00:00',
      '25 Oct 2026, 02:00:00 GMT+2',
      '25 Oct 2026, 02:00:00 GMT+1',
      '25 Oct 2026, 03:00:00',
    ]);
  });
});

describe('spend that is added up', () => {
  const bars = [0, 1, 2, 3, 4].map((hour) => hour * HOUR_MS);
  const point = (minutes: number, ...micros: number[]) => ({ start: new Date(minutes * 60_000).toISOString(), micros });

  it('has for each bar that has begun what each series has spent to its end', () => {
    const points = [point(0, 1, 0), point(30, 2, 5), point(60, 0, 0), point(125, 4, 1)];
    expect(addUp(points, bars, 2.5 * HOUR_MS)).toEqual([
      [3, 5],
      [3, 5],
      [7, 6],
    ]);
    expect(addUp(points.slice(0, 1), bars, HOUR_MS)).toEqual([[1, 0]]);
    expect(addUp([], bars, HOUR_MS)).toEqual([[]]);
  });

  it('is projected for the end of each bar that has not ended, at its pace so far', () => {
    expect(projectionOf(bars, 1.5 * HOUR_MS, 300)).toEqual([undefined, 400, 600, 800]);
    expect(projectionOf(bars, 4 * HOUR_MS, 800)).toEqual([undefined, undefined, undefined, undefined]);
  });

  it('is not projected before 5% of the day or month have passed', () => {
    expect(projectionOf(bars, 0.19 * HOUR_MS, 300)).toEqual([]);
    expect(projectionOf(bars, 0.2 * HOUR_MS, 300)).toHaveLength(4);
  });

  it('is so for ranges that have not ended', () => {
    const ranges = ['today', 'current_month', 'yesterday', '15min'] as const;
    expect(ranges.map(unfinishedOf)).toEqual(['day', 'month', undefined, undefined]);
    const searches = [{ chart: 'cumulative' }, { chart: 'interval', x: 1 }, { chart: 'pie' }];
    expect(searches.map(parseChartSearch)).toEqual([{ chart: 'cumulative' }, { chart: 'interval' }, {}]);
  });
});

describe('the limit of a chart', () => {
  const start = '2026-11-01T00:00:00.000Z';
  const limit = (scope: Api.Limit['scope'], id: string, change: Partial<Api.Limit> = {}): Api.Limit =>
    ({
      ...{ scope, scope_id: id, budget_id: id, limit_micros: 100 },
      period: { kind: 'month', start, end: '2026-12-01T00:00:00.000Z' },
      ...change,
    }) as Api.Limit;
  const budgets: Parameters<typeof limitOf>[2] = [
    { id: 'all', selector: {}, each: null },
    { id: 'tight', selector: { labels: {} }, each: null },
    { id: 'team', selector: { labels: { team: 'growth' } }, each: null },
    { id: 'model', selector: { model: 'm' }, each: null },
    { id: 'reader', selector: { agent: 'reader' }, each: null },
    { id: 'prefix', selector: { agent: 'read*' }, each: null },
    { id: 'each', selector: {}, each: 'agent' },
  ];
  const found = (limits: Api.Limit[], agentId?: string) =>
    limitOf({ kind: 'month', start, agentId }, limits, budgets)?.budget_id;

  it('is the lowest that counts exactly the spend of the chart', () => {
    const of = budgets.map(({ id }) => limit('budget', id));
    expect(found([...of, limit('budget', 'tight', { limit_micros: 7 })])).toBe('tight');
    expect(found([limit('budget', 'team'), limit('budget', 'model'), limit('budget', 'unknown')])).toBeUndefined();
    expect(found([limit('workspace', 'ws')])).toBe('ws');
    expect(found([limit('agent', 'reader'), limit('plan', 'pro')])).toBeUndefined();
  });

  it('is that of an agent for the spend of an agent', () => {
    const each = (value: string) => limit('budget', 'each', { value });
    expect(
      found([limit('workspace', 'ws'), limit('budget', 'all'), limit('budget', 'prefix')], 'reader'),
    ).toBeUndefined();
    expect(found([limit('agent', 'writer'), limit('agent', 'reader')], 'reader')).toBe('reader');
    expect(found([limit('budget', 'reader')], 'reader')).toBe('reader');
    expect([found([each('writer')], 'reader'), found([each('reader')], 'reader')]).toEqual([undefined, 'each']);
    expect(found([each('reader')])).toBeUndefined();
  });

  it('is for the same period', () => {
    const fiscal = { period: { kind: 'month', start: '2026-11-05T00:00:00.000Z', end: '2026-12-05T00:00:00.000Z' } };
    const day = { period: { kind: 'day', start, end: '2026-11-02T00:00:00.000Z' } };
    expect(found([limit('budget', 'all', fiscal), limit('workspace', 'ws', day)])).toBeUndefined();
  });
});
