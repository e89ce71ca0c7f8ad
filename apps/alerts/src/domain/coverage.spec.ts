import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { createCoverage } from './coverage.ts';

const SPAN_MS = 10;

describe('the times that events cover', () => {
  it('are known exactly, in the fewest spans, whatever the order of events, also when they were saved in between', () => {
    const allTimes = Array.from({ length: 140 }, (_, time) => time);
    fc.assert(
      fc.property(fc.array(fc.nat(120), { maxLength: 25 }), (times) => {
        let coverage = createCoverage(SPAN_MS);
        const added: number[] = [];
        const isCovered = (time: number) => added.some((each) => each <= time && time < each + SPAN_MS);
        for (const time of times) {
          expect(coverage.add(time)).toBe(!isCovered(time));
          added.push(time);
          // A span begins at each covered time whose predecessor is not covered. So spans neither touch nor overlap.
          const covered = allTimes.filter(isCovered);
          const starts = covered.filter((each) => !isCovered(each - 1));
          const ends = covered.filter((each) => !isCovered(each + 1)).map((each) => each + 1);
          const spans = coverage.spans();
          expect(spans).toEqual(starts.map((start, index) => ({ start, end: ends[index]! })));
          expect([coverage.size(), coverage.end()]).toEqual([spans.length, ends.at(-1)]);
          coverage = createCoverage(SPAN_MS, spans);
        }
      }),
      { numRuns: 200 },
    );
  });

  it('are none at first', () => {
    const coverage = createCoverage(SPAN_MS);
    expect([coverage.size(), coverage.end(), coverage.spans()]).toEqual([0, null, []]);
  });

  it('are forgotten in spans that end by the horizon, and only in these', () => {
    const coverage = createCoverage(SPAN_MS);
    for (const time of [0, 20, 40]) coverage.add(time);
    coverage.forgetUntil(29);
    expect(coverage.spans().map(({ start }) => start)).toEqual([20, 40]);
    coverage.forgetUntil(30);
    expect(coverage.spans().map(({ start }) => start)).toEqual([40]);
    coverage.forgetUntil(1000);
    expect(coverage.size()).toBe(0);
  });

  it('are answered and taken as copies, which nothing changes that is added later', () => {
    const coverage = createCoverage(SPAN_MS);
    coverage.add(0);
    const spans = coverage.spans();
    createCoverage(SPAN_MS, spans).add(5);
    coverage.add(7);
    expect(spans).toEqual([{ start: 0, end: 10 }]);
  });
});
