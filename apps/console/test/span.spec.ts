import { describe, expect, it } from '@jest/globals';
import { datesProblem, parseSpan } from '../web/src/app/span-search.ts';

describe('the span in an address', () => {
  it('is a range, or two days, in the zone of the workspace or in another', () => {
    expect(parseSpan({ range: 'last_quarter', zone: 'Asia/Kathmandu' })).toEqual({
      ...{ range: 'last_quarter', zone: 'Asia/Kathmandu' },
    });
    const dates = { range: 'dates', start: '2026-10-01', end: '2026-10-01' };
    expect(parseSpan(dates)).toEqual(dates);
  });

  it.each([
    ['a range that pages do not know', { range: 'fortnight' }],
    ['a zone that does not exist', { zone: 'Mars/Olympus' }],
    ['days without a range', { start: '2026-10-01', end: '2026-10-02' }],
    ['dates without days', { range: 'dates' }],
    ['a month that is none', { range: 'dates', start: '2026-10-01', end: '2026-13-01' }],
    ['a day that is none', { range: 'dates', start: '2026-02-30', end: '2026-03-05' }],
    ['a year before any spend', { range: 'dates', start: '0001-01-01', end: '0001-01-02' }],
    ['days in reverse', { range: 'dates', start: '2026-10-02', end: '2026-10-01' }],
    ['text of another type', { range: ['dates'], start: 1, end: {} }],
  ])('is the default with %s', (_what, search) => {
    expect(parseSpan(search)).toEqual({});
  });
});

describe('the first and the last day of a span', () => {
  it.each([
    ['2026-10-01', '', 'missing'],
    ['2026-10-02', '2026-10-01', 'reversed'],
    ['2025-10-27', '2026-11-30', null],
    ['2025-10-26', '2026-11-30', 'long'],
  ])('%s and "%s" are %s', (start, end, problem) => {
    expect(datesProblem(start, end)).toBe(problem);
  });
});
