import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { keepSum, type KeptSum } from '../../test/fixtures.ts';
import { type Addend, Single } from '../../test/single.sum.ts';
import { BYTES_PER_ENTRY, isWhole, joinParts } from './saved-sum.ts';
import type { SlidingSumOptions } from './sliding-sum.ts';
import { MIN_SAVED_IN_PARTS } from './sum.saves.ts';

const NEVER_REACHED = 1_000_000;
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
