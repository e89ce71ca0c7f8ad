import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { type Addend, Single } from '../../test/single.sum.ts';
import type { SavedSum } from './saved-sum.ts';
import { SlidingSum } from './sliding-sum.ts';
import { MAX_COUNTED_MICROS } from './sum.condition.ts';

const WINDOW_MS = 1000;
const MAX_ENTRIES = 8;
/** How much longer than the window an event may count while events share entries. */
const STRETCH_MS = WINDOW_MS / (MAX_ENTRIES / 2);
const NEVER_REACHED = 1_000_000;
const OPTIONS = { form: 'amount', windowMs: WINDOW_MS, threshold: NEVER_REACHED, maxEntries: MAX_ENTRIES } as const;

/** Times mostly rise but sometimes fall, so that some events come late. */
const addends = fc
  .array(
    fc.record({
      passedMs: fc.constantFrom(0, 1, 7, 30, 120),
      behindMs: fc.nat(40),
      amount: fc.integer({ min: 1, max: 9 }),
    }),
    { maxLength: 120, size: 'max' },
  )
  .map((made) => {
    let now = 10_000;
    return made.map(({ passedMs, behindMs, amount }, index): Addend => {
      now += passedMs;
      return { id: `e${index}`, time: now - behindMs, identity: index, amount };
    });
  });

/** Fewer than the maximum number of entries, some with equal times and some repeated. */
const exactAddends = fc
  .array(fc.record({ time: fc.nat(60), identity: fc.nat(1), amount: fc.integer({ min: 1, max: 9 }) }), {
    maxLength: 120,
    size: 'max',
  })
  .map((made) =>
    made.map(({ time, identity, amount }): Addend => ({
      ...{ id: `e${time}.${identity}`, time: 50 * time, identity, amount },
    })),
  );

const byAge = (a: Addend, b: Addend) => a.time - b.time || a.identity - b.identity;

/** The newest events that together reach the threshold, from events sorted by time. */
function newestThatReach(all: readonly Addend[], threshold: number): Addend[] {
  const first = all.findLastIndex((_, index) => sumAfter(all.slice(index), -Infinity) >= threshold);
  return all.slice(Math.max(first, 0));
}

function sumAfter(all: readonly Addend[], time: number): number {
  return all.filter((each) => each.time > time).reduce((sum, { amount }) => sum + amount, 0);
}

describe('a sliding sum', () => {
  it.each([
    ['unit', 15],
    ['count', 15],
    ['amount', 60],
  ] as const)('of the form %s is exactly that of the newest events of its window, each once', (form, threshold) => {
    fc.assert(
      fc.property(exactAddends, fc.nat(20), (made, restartEvery) => {
        const open = (saved?: SavedSum) => new Single({ ...OPTIONS, form, threshold, maxEntries: 60, saved });
        let sum = open();
        let known: Addend[] = [];
        let kept: Addend[] = [];
        for (const [index, addend] of made.entries()) {
          const isKept = () => kept.some((each) => byAge(each, addend) === 0);
          if (!known.some((each) => byAge(each, addend) === 0)) known = [...known, addend].toSorted(byAge);
          const start = known.at(-1)!.time - WINDOW_MS;
          const inWindow = known.filter(({ time }) => time > start);
          const wasKept = isKept();
          kept = newestThatReach(inWindow, threshold);
          expect(sum.add(addend, addend.amount, -Infinity)).toBe(!wasKept && isKept());
          const { firstTime, lastTime } = sum.view;
          expect({ ...sum.seen(), firstTime, lastTime }).toEqual({
            ...{ size: kept.length, total: sumAfter(kept, -Infinity) },
            count: form === 'amount' ? kept.length : sumAfter(kept, -Infinity),
            ...{ firstTime: kept[0]!.time, lastTime: kept.at(-1)!.time },
            sampleIds: kept
              .map(({ id }) => id)
              .toReversed()
              .slice(0, 10),
          });
          // A store returns a copy of what it was given.
          if (index % (restartEvery + 1) === restartEvery) sum = open(structuredClone(sum.save()));
        }
      }),
      { numRuns: 150 },
    );
  });

  it('never takes more entries than it may, never is too small, and too large only by one more stretch', () => {
    let shared = 0;
    fc.assert(
      fc.property(addends, (made) => {
        let sum = new Single(OPTIONS);
        for (const [index, addend] of made.entries()) {
          sum.add(addend, addend.amount, addend.time - 200);
          const known = made.slice(0, index + 1);
          const start = Math.max(...known.map(({ time }) => time)) - WINDOW_MS;
          const { size, count, total } = sum.seen();
          expect(size).toBeLessThanOrEqual(MAX_ENTRIES);
          expect(total).toBeGreaterThanOrEqual(sumAfter(known, start));
          expect(total).toBeLessThanOrEqual(sumAfter(known, start - STRETCH_MS));
          if (count > size) shared += 1;
          // A store returns a copy of what it was given.
          sum = new Single({ ...OPTIONS, saved: structuredClone(sum.save()) });
        }
      }),
      { numRuns: 500 },
    );
    expect(shared).toBeGreaterThan(1000);
  });

  it.each([
    ['few entries', 60],
    ['entries that events share', MAX_ENTRIES],
  ])('of several rules with %s shows each what it alone would see, or a stretch more', (_what, maxEntries) => {
    let alike = 0;
    let longer = 0;
    fc.assert(
      fc.property(
        addends,
        fc.uniqueArray(fc.integer({ min: 1, max: 200 }), { minLength: 2, maxLength: 4 }),
        (made, thresholds) => {
          const options = { ...OPTIONS, maxEntries };
          let sum = new SlidingSum(options);
          let views = thresholds.map((threshold) => sum.open(threshold, 0));
          const known: Addend[] = [];
          for (const addend of made) {
            sum.add(addend, addend.amount, addend.time - 200);
            known.push(addend);
            const newest = Math.max(...known.map(({ time }) => time));
            const seenFrom = (start: number, threshold: number) =>
              newestThatReach(known.filter(({ time }) => time > start).toSorted(byAge), threshold);
            for (const { threshold, total, count, reachesThreshold, lastTime, start } of views) {
              // The newest entries that reach the threshold, added up anew.
              const anew = sum.open(threshold, 0);
              expect({ start, total, count }).toEqual({ start: anew.start, total: anew.total, count: anew.count });
              anew.close();
              const exact = sumAfter(seenFrom(newest - WINDOW_MS, threshold), -Infinity);
              const more = sumAfter(seenFrom(newest - WINDOW_MS - STRETCH_MS, threshold), -Infinity);
              expect([lastTime, reachesThreshold]).toEqual([newest, total >= threshold]);
              if (total === exact) alike += 1;
              else longer += 1;
              if (maxEntries > MAX_ENTRIES) expect(total).toBe(exact);
              expect(total >= Math.min(exact, threshold)).toBe(true);
              expect(reachesThreshold && more < threshold).toBe(false);
            }
            if (known.length % 10 > 0) continue;
            sum = new SlidingSum({ ...options, saved: structuredClone(views[0]!.save()) });
            views = thresholds.map((threshold) => sum.open(threshold, 0));
          }
        },
      ),
      { numRuns: 80 },
    );
    expect(alike).toBeGreaterThan(1000);
    if (maxEntries === MAX_ENTRIES) expect(longer).toBeGreaterThan(100);
  });

  it('knows events again that can come again, though others share entries', () => {
    const sum = new Single(OPTIONS);
    const made = Array.from({ length: MAX_ENTRIES + 1 }, (_, index) => ({
      id: `e${index}`,
      time: index,
      identity: index,
    }));
    const finalUntil = 5;
    for (const addend of made) sum.add(addend, 1, finalUntil);
    // The oldest keeps its own entry, 1 to 5 share one.
    expect(sum.seen()).toMatchObject({ size: 5, count: 9 });
    for (const addend of made.slice(finalUntil)) expect(sum.add(addend, 1, finalUntil)).toBe(false);
  });

  it('lets events share entries though they can come again, where too little room is left else', () => {
    const sum = new Single(OPTIONS);
    for (let n = 0; n <= MAX_ENTRIES; n += 1) sum.add({ id: `e${n}`, time: n, identity: n }, 1, 2);
    expect(sum.seen()).toMatchObject({ size: 3, count: 9 });
  });

  it.each(['count', 'amount'] as const)('of the form %s says no less than what a store takes for it', (form) => {
    const sum = new Single({ ...OPTIONS, form, maxEntries: 100 });
    for (let n = 0; n < 100; n += 1) sum.add({ id: String(n).padStart(128, 'e'), time: n, identity: n }, 1, 0);
    const { entries, sampleIds } = sum.save();
    const stored = entries.byteLength + sampleIds.join('').length;
    expect(sum.view.unsavedBytes).toBeGreaterThanOrEqual(stored);
    expect(sum.view.unsavedBytes).toBeLessThan(stored + 500);
  });

  it('is a safe integer, however large the amounts are and however often they share entries', () => {
    const sum = new Single({ ...OPTIONS, windowMs: 1_000_000, threshold: MAX_COUNTED_MICROS });
    const amount = Math.floor(MAX_COUNTED_MICROS / (MAX_ENTRIES + 1));
    for (let n = 1; n <= 100; n += 1) {
      sum.add({ id: `e${n}`, time: n, identity: n }, amount, Infinity);
      expect(sum.view.total).toBeLessThan(2 * MAX_COUNTED_MICROS);
    }
    expect(sum.view.count).toBeGreaterThan(MAX_ENTRIES);
    sum.add({ id: 'large', time: 101, identity: 101 }, MAX_COUNTED_MICROS, Infinity);
    expect([sum.view.count, sum.view.total]).toEqual([1, MAX_COUNTED_MICROS]);
  });
});
