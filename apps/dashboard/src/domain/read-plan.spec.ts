import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { AGENT_GRAINS, GRAIN_MS, GRAINS } from './grain.ts';
import { planReads, type ReadPlan } from './read-plan.ts';

const DAY_MS = 86_400_000;
const origin = Date.parse('2026-08-01T00:00:00Z');

/** The plan as pieces `[start, end, span]` in time order. */
function pieces(plan: ReadPlan): [number, number, number][] {
  const found: [number, number, number][] = [];
  for (const grain of GRAINS) {
    for (const [start, span] of plan.buckets[grain]) found.push([start, start + GRAIN_MS[grain], span]);
  }
  for (const raw of plan.raw) {
    for (let start = raw.start, span = raw.firstSpan; start < raw.end; start += raw.stepMs, span++) {
      found.push([start, Math.min(start + raw.stepMs, raw.end), span]);
    }
  }
  return found.sort((a, b) => a[0] - b[0]);
}

const boundaries = fc
  .uniqueArray(
    fc.oneof(
      fc.integer({ min: origin, max: origin + 95 * DAY_MS }),
      fc.integer({ min: 0, max: 95 * 24 * 4 }).map((quarter) => origin + quarter * 900_000),
    ),
    { minLength: 2, maxLength: 40 },
  )
  .map((times) => times.sort((a, b) => a - b));

describe('planReads', () => {
  it('reads every instant of every span exactly once, for that span', () => {
    fc.assert(
      fc.property(boundaries, (times) => {
        const spans = times.slice(1).map((end, index) => ({ start: times[index]!, end }));
        for (const grains of [GRAINS, AGENT_GRAINS]) {
          let at = times[0]!;
          for (const [start, end, index] of pieces(planReads(spans, grains))) {
            const span = spans[index]!;
            if (start !== at || end <= start || start < span.start || end > span.end) return false;
            at = end;
          }
          if (at !== times.at(-1)) return false;
        }
        return true;
      }),
      { seed: 20261121, numRuns: 2000 },
    );
  });

  it('reads buckets that exist: each begins at a multiple of its length', () => {
    fc.assert(
      fc.property(boundaries, (times) => {
        const spans = times.slice(1).map((end, index) => ({ start: times[index]!, end }));
        for (const grains of [GRAINS, AGENT_GRAINS]) {
          const { buckets } = planReads(spans, grains);
          for (const grain of GRAINS) {
            if ([...buckets[grain].keys()].some((start) => start % GRAIN_MS[grain] !== 0)) return false;
            if (buckets[grain].size > 0 && !grains.includes(grain)) return false;
          }
        }
        return true;
      }),
      { seed: 20261121, numRuns: 500 },
    );
  });

  it('reads at most 92 days, 46 hours, 6 quarters, 28 minutes and two raw ends for three months', () => {
    fc.assert(
      fc.property(fc.integer({ min: origin, max: origin + DAY_MS }), (start) => {
        const plan = planReads([{ start, end: start + 92 * DAY_MS }], GRAINS);
        expect(plan.buckets['1d'].size).toBeLessThanOrEqual(92);
        expect(plan.buckets['1h'].size).toBeLessThanOrEqual(46);
        expect(plan.buckets['15m'].size).toBeLessThanOrEqual(6);
        expect(plan.buckets['1m'].size).toBeLessThanOrEqual(28);
        expect(plan.raw.every((raw) => raw.end - raw.start < GRAIN_MS['1m'])).toBe(true);
        expect(plan.raw.length).toBeLessThanOrEqual(2);
      }),
      { seed: 1, numRuns: 500 },
    );
  });

  it('reads the whole minutes of a window of minutes from buckets where there are some, and from raw events where not', () => {
    const window = { start: origin + 12_345, end: origin + 12_345 + 45 * 60_000 };
    const { buckets, raw } = planReads([window], GRAINS);
    expect([buckets['15m'].size, buckets['1m'].size]).toEqual([2, 14]);
    expect(raw.map(({ start, end }) => end - start)).toEqual([47_655, 12_345]);
    expect(planReads([window], AGENT_GRAINS).raw).toEqual([{ ...window, stepMs: 45 * 60_000, firstSpan: 0 }]);
  });

  it('reads windows of a few of the smallest buckets from raw events alone', () => {
    for (const [grains, endMs] of [
      [GRAINS, 4 * 60_000 - 1],
      [AGENT_GRAINS, 3_600_000 - 1],
    ] as const) {
      const window = { start: origin, end: origin + endMs };
      expect(planReads([window], grains).raw).toEqual([{ ...window, stepMs: endMs, firstSpan: 0 }]);
    }
  });

  it('reads the points of a series that hold no whole bucket in one pass over raw events', () => {
    const start = origin + 12_345;
    const spans = Array.from({ length: 45 }, (_, minute) => ({
      start: start + minute * 60_000,
      end: start + (minute + 1) * 60_000,
    }));
    expect(planReads(spans, GRAINS).raw).toEqual([{ start, end: start + 45 * 60_000, stepMs: 60_000, firstSpan: 0 }]);
  });

  it('reads no raw events where buckets fit, from the shortest window on that is read from buckets', () => {
    for (const [grains, grain, endMs] of [
      [GRAINS, '1m', 4 * 60_000],
      [AGENT_GRAINS, '15m', 3_600_000],
    ] as const) {
      const start = origin + GRAIN_MS[grain];
      const { buckets, raw } = planReads([{ start, end: start + endMs }], grains);
      expect([buckets[grain].size, raw]).toEqual([4, []]);
    }
  });

  it('reads nothing for no span and for an empty one', () => {
    expect(pieces(planReads([], GRAINS))).toEqual([]);
    expect(planReads([{ start: origin, end: origin }], GRAINS).raw).toEqual([]);
  });
});
