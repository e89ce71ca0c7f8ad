import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import {
  halvesOf,
  HASH_BITS,
  NAME_BITS,
  partOf,
  partsFrom,
  partsOfName,
  UNDIVIDED,
  type Part,
} from './rollup.parts.ts';

const hash = fc.integer({ min: 0, max: 2 ** HASH_BITS - 1 });

/** The parts after adding rows with these hashes, divided as far as possible. */
function dividedFor(hashes: readonly number[], parts: readonly Part[] = UNDIVIDED): Part[] {
  return parts.flatMap((part) => {
    const held = hashes.filter((at) => part.start <= at && at < part.end);
    const halves = held.length === 0 ? undefined : halvesOf(part, held);
    return halves === undefined ? part : dividedFor(held, halves);
  });
}

describe('the parts of rows', () => {
  it('hold each hash once, however they are divided, and are known by their starts', () => {
    fc.assert(
      fc.property(fc.array(hash, { maxLength: 80 }), hash, (at, asked) => {
        const parts = dividedFor(at);
        expect(partsFrom(parts.slice(1).map(({ start }) => start))).toEqual(parts);
        expect(parts.at(-1)!.end).toBe(2 ** HASH_BITS);
        const holding = parts.filter((part) => part.start <= asked && asked < part.end);
        expect(holding).toEqual([parts[partOf(parts, asked)]]);
      }),
    );
  });

  it('are never empty, and are divided up to a single hash', () => {
    fc.assert(
      fc.property(fc.uniqueArray(hash, { minLength: 1, maxLength: 80 }), (at) => {
        const parts = dividedFor(at);
        expect(at.map((one) => partOf(parts, one)).sort((a, b) => a - b)).toEqual(parts.map((_, index) => index));
      }),
    );
  });

  it('are divided between names, where they have several, and near the middle', () => {
    const rows = (name: number, count: number) =>
      Array.from({ length: count }, (_, row) => name * 2 ** (HASH_BITS - NAME_BITS) + row);
    const [start, end] = [0, 2 ** HASH_BITS];
    const at = (hashes: number[]) => halvesOf({ start, end }, hashes)![1].start;
    expect(at([...rows(3, 10), ...rows(5, 10)])).toBe(rows(5, 1)[0]);
    expect(at([...rows(3, 1), ...rows(5, 10)])).toBe(rows(5, 1)[0]);
    expect(at([...rows(3, 10), ...rows(5, 1)])).toBe(rows(4, 1)[0]);
    expect(at(rows(3, 10))).toBe(rows(3, 10)[5]);
  });

  it('have all rows of a name side by side', () => {
    fc.assert(
      fc.property(fc.array(hash, { maxLength: 80 }), hash, hash, (at, one, other) => {
        const parts = dividedFor(at);
        const nameSpan = 2 ** (HASH_BITS - NAME_BITS);
        const ofSameName = one - (one % nameSpan) + (other % nameSpan);
        const [first, last] = partsOfName(parts, one);
        const found = parts[partOf(parts, ofSameName)]!;
        expect(found.start).toBeGreaterThanOrEqual(first.start);
        expect(found.start).toBeLessThanOrEqual(last.start);
      }),
    );
  });
});
