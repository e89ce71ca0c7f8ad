import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import {
  halvesOf,
  HASH_BITS,
  NAME_BITS,
  partOf,
  partsOfBits,
  partsOfName,
  UNDIVIDED,
  type Part,
} from './rollup.parts.ts';

const hash = fc.integer({ min: 0, max: 2 ** HASH_BITS - 1 });

/** Divides the parts that hold the hashes, one after the other. */
function dividedAt(hashes: readonly number[]): Part[] {
  return hashes.reduce<Part[]>(
    (parts, at) => {
      const divided = partOf(parts, at);
      return parts.flatMap((part, index) => (index === divided && part.bits < HASH_BITS ? halvesOf(part) : part));
    },
    [...UNDIVIDED],
  );
}

const endOf = ({ start, bits }: Part): number => start + 2 ** (HASH_BITS - bits);

describe('the parts of rows', () => {
  it('hold each hash once, however they are divided, and are known by their bits', () => {
    fc.assert(
      fc.property(fc.array(hash, { maxLength: 80 }), hash, (at, asked) => {
        const parts = dividedAt(at);
        expect(partsOfBits(parts.map(({ bits }) => bits))).toEqual(parts);
        expect(endOf(parts.at(-1)!)).toBe(2 ** HASH_BITS);
        const holding = parts.filter((part) => part.start <= asked && asked < endOf(part));
        expect(holding).toEqual([parts[partOf(parts, asked)]]);
      }),
    );
  });

  it('have all rows of a name side by side', () => {
    fc.assert(
      fc.property(fc.array(hash, { maxLength: 80 }), hash, hash, (at, one, other) => {
        const parts = dividedAt(at);
        const nameSpan = 2 ** (HASH_BITS - NAME_BITS);
        const ofSameName = one - (one % nameSpan) + (other % nameSpan);
        const [first, last] = partsOfName(parts, one);
        const found = parts[partOf(parts, ofSameName)]!;
        expect(found.start).toBeGreaterThanOrEqual(first.start);
        expect(found.start).toBeLessThanOrEqual(last.start);
      }),
    );
  });

  it('are divided up to a single hash', () => {
    const [deepest] = dividedAt(Array.from({ length: HASH_BITS + 2 }, () => 0));
    expect(deepest).toEqual({ start: 0, bits: HASH_BITS });
  });
});
