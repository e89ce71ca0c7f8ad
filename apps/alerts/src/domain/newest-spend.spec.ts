import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { MAX_COUNTED_MICROS, NewestSpend, type Settlement } from './newest-spend.ts';

const WINDOW_MS = 1000;
const MAX_ENTRIES = 8;
/** How much longer than the window a settlement may count where settlements share entries. */
const STRETCH_MS = WINDOW_MS / (MAX_ENTRIES / 2);
const NEVER_REACHED = 1_000_000;

/** Times rise and fall a bit, so that some come late. */
const settlements = fc
  .array(
    fc.record({
      passedMs: fc.constantFrom(0, 1, 7, 30, 120),
      behindMs: fc.nat(40),
      micros: fc.integer({ min: 1, max: 9 }),
    }),
    {
      maxLength: 120,
      size: 'max',
    },
  )
  .map((made) => {
    let now = 10_000;
    return made.map(({ passedMs, behindMs, micros }, index): Settlement => {
      now += passedMs;
      return { id: `e${index}`, time: now - behindMs, identity: index, micros };
    });
  });

function sumAfter(all: readonly Settlement[], time: number): number {
  return all.filter((each) => each.time > time).reduce((sum, { micros }) => sum + micros, 0);
}

describe('the newest settlements', () => {
  it('never take more entries than they may, never count too little, and too much only of one more stretch', () => {
    let shared = 0;
    fc.assert(
      fc.property(settlements, (made) => {
        let spend = new NewestSpend({ windowMs: WINDOW_MS, thresholdMicros: NEVER_REACHED, maxEntries: MAX_ENTRIES });
        for (const [index, settlement] of made.entries()) {
          spend.moveTo(settlement.time);
          spend.add(settlement, settlement.time - 200);
          const known = made.slice(0, index + 1);
          const start = Math.max(...known.map(({ time }) => time)) - WINDOW_MS;
          expect(spend.size).toBeLessThanOrEqual(MAX_ENTRIES);
          expect(spend.micros).toBeGreaterThanOrEqual(sumAfter(known, start));
          expect(spend.micros).toBeLessThanOrEqual(sumAfter(known, start - STRETCH_MS));
          if (spend.count > spend.size) shared += 1;
          // A store gives back what it was given.
          const saved = structuredClone(spend.save());
          spend = new NewestSpend({
            windowMs: WINDOW_MS,
            thresholdMicros: NEVER_REACHED,
            saved,
            maxEntries: MAX_ENTRIES,
          });
        }
      }),
      { numRuns: 500 },
    );
    expect(shared).toBeGreaterThan(1000);
  });

  it('add up to a safe integer, however large they are and however often they share entries', () => {
    const spend = new NewestSpend({
      windowMs: 1_000_000,
      thresholdMicros: MAX_COUNTED_MICROS,
      maxEntries: MAX_ENTRIES,
    });
    const micros = Math.floor(MAX_COUNTED_MICROS / (MAX_ENTRIES + 1));
    for (let n = 1; n <= 100; n += 1) {
      spend.add({ id: `e${n}`, time: n, identity: n, micros }, Infinity);
      expect(spend.micros).toBeLessThan(2 * MAX_COUNTED_MICROS);
    }
    expect(spend.count).toBeGreaterThan(MAX_ENTRIES);
    spend.add({ id: 'large', time: 101, identity: 101, micros: MAX_COUNTED_MICROS }, Infinity);
    expect([spend.count, spend.micros]).toEqual([1, MAX_COUNTED_MICROS]);
  });
});
