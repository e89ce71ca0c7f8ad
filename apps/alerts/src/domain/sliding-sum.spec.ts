import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { keepSum, type KeptSum } from '../../test/fixtures.ts';
import { BYTES_PER_ENTRY, isWhole, joinParts, type SavedSum } from './saved-sum.ts';
import { type Occurrence, SlidingSum, type SlidingSumOptions } from './sliding-sum.ts';
import { MIN_SAVED_IN_PARTS } from './sum.saves.ts';
import type { SumView } from './sum.view.ts';
import { MAX_COUNTED_MICROS } from './sum.condition.ts';

const WINDOW_MS = 1000;
const MAX_ENTRIES = 8;
/** How much longer than the window an event may count while events share entries. */
const STRETCH_MS = WINDOW_MS / (MAX_ENTRIES / 2);
const NEVER_REACHED = 1_000_000;
const OPTIONS = { form: 'amount', windowMs: WINDOW_MS, threshold: NEVER_REACHED, maxEntries: MAX_ENTRIES } as const;

/** A sum with a view. */
class Single {
  readonly sum: SlidingSum;
  readonly view: SumView;

  constructor({ threshold, ...options }: SlidingSumOptions & { threshold: number }) {
    this.sum = new SlidingSum(options);
    this.view = this.sum.open(threshold, 0);
  }
  /** Whether the event counts. */
  add(event: Occurrence, amount: number, finalUntil: number): boolean {
    this.sum.add(event, amount, finalUntil);
    return this.view.verdict !== 'unchanged';
  }
  seen() {
    const { total, count, sampleIds } = this.view;
    return { size: this.sum.size, count, total, sampleIds };
  }
  save = () => this.view.save();
  saved = () => this.view.saved();
}

interface Addend extends Occurrence {
  amount: number;
}

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

/** Sums large enough to be saved in parts. */
const LARGE: [string, SlidingSumOptions & { threshold: number }][] = [
  ['counts', { form: 'unit', windowMs: 60_000, threshold: 1500, maxEntries: 1500 }],
  ['reaches its threshold', { form: 'amount', windowMs: 60_000, threshold: 1500, maxEntries: 1000 }],
  ['has events that share entries', { form: 'amount', windowMs: 60_000, threshold: NEVER_REACHED, maxEntries: 300 }],
];

/** Batches of events, some of them late, and what happens to the sum after each. */
const stretches = fc.array(
  fc.record({
    count: fc.oneof(fc.integer({ min: 1, max: 12 }), fc.integer({ min: 1, max: 150 })),
    stepMs: fc.constantFrom(0, 1, 10, 150, 3000),
    lateEvery: fc.integer({ min: 2, max: 40 }),
    lateMs: fc.constantFrom(3, 400, 20_000, 59_000, 61_000),
    then: fc.constantFrom('go on', 'save', 'save', 'save', 'stop and start', 'crash'),
  }),
  { minLength: 10, maxLength: 80, size: 'max' },
);

describe.each(LARGE)('a sum that %s and is saved in parts', (_what, options) => {
  const add = (sum: Single, { amount, ...occurrence }: Addend) => sum.add(occurrence, amount, occurrence.time - 10_000);

  it('continues from the store as if it had never stopped, whatever comes late and wherever it crashes', () => {
    const saves = { whole: 0, part: 0 };
    fc.assert(
      fc.property(stretches, (made) => {
        const unstopped = new Single(options);
        let sum = new Single(options);
        let kept: KeptSum | undefined;
        const stored = () => {
          if (kept === undefined) return undefined;
          const { form, saved, size: keptSize, sampleIds, apart } = kept;
          const { entries, size } = joinParts(form, saved, keptSize);
          const all = saved.reduce((total, { byteLength }) => total + byteLength, 0) / BYTES_PER_ENTRY[form];
          const { shareAt, stagger } = unstopped.save();
          return { form, entries, size, sampleIds, stored: all, apart, sharedAs: null, stagger, shareAt };
        };
        let sinceSaved: Addend[] = [];
        let time = 100_000;
        let identity = 0;
        for (const { count, stepMs, lateEvery, lateMs, then } of made) {
          for (let n = 1; n <= count; n += 1) {
            time += stepMs;
            identity += 1;
            const late = n % lateEvery === 0 ? lateMs : 0;
            const addend = { id: `e${identity}`, time: time - late, identity, amount: 1 + (identity % 7) };
            sinceSaved.push(addend);
            if (add(sum, addend) !== add(unstopped, addend)) throw new Error(`only one has taken ${addend.id}`);
          }
          if (then === 'save' || then === 'stop and start') {
            const saved = sum.save();
            expect(sum.view.unsavedBytes).toBeGreaterThan(saved.entries.byteLength);
            saves[isWhole(saved) ? 'whole' : 'part'] += 1;
            kept = keepSum(kept, saved);
            sum.saved();
            sinceSaved = [];
            expect(stored()!.entries.join()).toBe(unstopped.save().entries.join());
          }
          if (then === 'stop and start' || then === 'crash') {
            sum = new Single({ ...options, saved: stored() });
            for (const addend of sinceSaved) add(sum, addend);
          }
          expect(sum.seen()).toEqual(unstopped.seen());
        }
      }),
      { numRuns: 100 },
    );
    expect(saves.whole).toBeGreaterThan(100);
    expect(saves.part).toBeGreaterThan(100);
  });
});

describe('a save of a large sum', () => {
  const options = { form: 'count', windowMs: 3_600_000, threshold: 100_000, maxEntries: 100_000 } as const;
  /** A sum that was saved with this many entries. */
  const savedWith = (count: number, threshold: number = options.threshold) => {
    const sum = new Single({ ...options, threshold, maxEntries: threshold });
    for (let n = 0; n < count; n += 1) sum.add({ id: `e${n}`, time: n, identity: n }, 1, 0);
    sum.saved();
    return sum;
  };
  const addTo = (sum: Single, time: number) => sum.add({ id: `e${time}`, time, identity: -1 }, 1, 0);

  it('is of what is new, late or not, and be it the oldest', () => {
    const sum = savedWith(99_000);
    for (const time of [100_000, 100_001]) expect(addTo(sum, time)).toBe(true);
    expect(Array.from(sum.save().entries)).toEqual([100_000, -1, 1, 100_001, -1, 1]);
    expect(sum.view.unsavedBytes).toBeLessThan(1_500);
    for (const time of [98_990, -1]) {
      sum.saved();
      expect(addTo(sum, time)).toBe(true);
      expect(Array.from(sum.save().entries)).toEqual([time, -1, 1]);
    }
  });

  it('is of one entry after each of many events of one time, whatever order their identities have', () => {
    const sum = savedWith(2_000);
    for (let n = 0; n < 50; n += 1) {
      sum.add({ id: `at once ${n}`, time: 2_000, identity: (n * 7_919) % 1_000 }, 1, 0);
      expect(sum.save().entries).toHaveLength(3);
      sum.saved();
    }
  });

  it('is of all entries before what is stored comes to more than one and a half of them', () => {
    const partsUntilWhole = (added: number) => {
      const sum = savedWith(2_000, 2_000);
      let parts = 0;
      for (let time = 2_000; ; parts += 1) {
        for (let n = 0; n < added; n += 1, time += 1) addTo(sum, time);
        const saved = sum.save();
        if (isWhole(saved)) return parts;
        expect(saved.entries).toHaveLength(3 * added);
        sum.saved();
      }
    };
    expect(partsUntilWhole(100)).toBe(10);
    expect(partsUntilWhole(1)).toBe(1000);
    expect(partsUntilWhole(300)).toBe(3);
    expect(partsUntilWhole(1001)).toBe(0);
  });

  it.each([
    ['unit', 0, 1536],
    ['unit', 0.999, 2047],
    ['count', 0, 1024],
    ['amount', 0, 768],
    ['amount', 0.999, 1023],
  ] as const)(
    'of the form %s is whole once more when it is to be stored apart, and later than that in parts',
    (form, stagger, most) => {
      const sum = new Single({ ...options, form, stagger });
      const wholeAt: number[] = [];
      for (let n = 1; n <= 10_000; n += 1) {
        sum.add({ id: `e${n}`, time: n, identity: n }, form === 'count' ? 2 : 1, 0);
        const saved = sum.save();
        expect(saved.apart).toBe(n > most);
        if (isWhole(saved)) wholeAt.push(n);
        sum.saved();
      }
      expect(wholeAt.filter((n) => n >= MIN_SAVED_IN_PARTS)).toEqual([most + 1]);
    },
  );

  it.each([
    ['in their order', 1],
    ['the newest first', -1],
  ])('of a sum that grows, by few or many entries %s, writes each of them not more than 1.4 times', (_what, order) => {
    for (const step of [10, 100, 340, 1000]) {
      const sum = new Single({ ...options, form: 'amount', stagger: 0.5 });
      let written = 0;
      for (let n = 1; n <= 4000; n += 1) {
        sum.add({ id: `e${n}`, time: 10_000 + order * n, identity: n }, 1, 0);
        if (n % step > 0) continue;
        written += sum.save().entries.length / 4;
        sum.saved();
      }
      expect(written).toBeLessThan(1.4 * 4000);
    }
  });

  it('is of all entries while they are few', () => {
    const sum = savedWith(MIN_SAVED_IN_PARTS - 2);
    for (const whole of [true, false]) {
      addTo(sum, 1_000 + sum.sum.size);
      expect(isWhole(sum.save())).toBe(whole);
      sum.saved();
    }
  });

  it('is of all entries when most of those that are stored have left', () => {
    const sum = savedWith(2_000);
    sum.sum.moveTo(3_600_000 + 600);
    addTo(sum, 2_000);
    expect(isWhole(sum.save())).toBe(false);
    sum.sum.moveTo(3_600_000 + 700);
    expect(isWhole(sum.save())).toBe(true);
  });

  it('is no part where nothing is new', () => {
    const sum = savedWith(200);
    for (let n = 0; n < 100; n += 1) {
      expect(addTo(sum, 199)).toBe(n === 0);
      expect(sum.save().entries).toHaveLength(n === 0 ? 3 : 0);
      sum.saved();
    }
  });
});
