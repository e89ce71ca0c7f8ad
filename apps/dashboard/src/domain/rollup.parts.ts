import type { RowKind } from './rollup.ts';

/**
 * Rows lie in parts, each of which holds those whose hashes begin alike. A part that outgrows its room is divided by
 * the next bit of the hashes, and no other part is. So an event rewrites little, whatever else its workspace does.
 * While all rows of a kind are one part, they lie in the document of the workspace.
 */
export interface Part {
  /** The least hash that it may hold. */
  start: number;
  /** How many bits all its hashes have in common. */
  bits: number;
}

/** Bits of the hash of a row. The first ones are those of its name: the rows of an agent lie side by side. */
export const HASH_BITS = 48;
export const NAME_BITS = 24;
const NAME_SPAN = 2 ** (HASH_BITS - NAME_BITS);

/** How many parts the rows of a kind lie in. Infinity when it is not known. */
export type PartCounts = Record<RowKind, number>;

/** All rows in one part. */
export const UNDIVIDED: readonly Part[] = [{ start: 0, bits: 0 }];

/** The parts that have so many bits each, from that of the least hash on. */
export function partsOfBits(bits: Iterable<number>): Part[] {
  const parts: Part[] = [];
  let start = 0;
  for (const count of bits) {
    parts.push({ start, bits: count });
    start += 2 ** (HASH_BITS - count);
  }
  return parts;
}

/** The index of the part that holds `hash`. The parts are in order and hold all hashes. */
export function partOf(parts: readonly Part[], hash: number): number {
  let [low, high] = [0, parts.length - 1];
  while (low < high) {
    const middle = (low + high + 1) >> 1;
    if (parts[middle]!.start <= hash) low = middle;
    else high = middle - 1;
  }
  return low;
}

/** The first and the last part with rows of the name that has `hash`, or any other hash of that name. */
export function partsOfName(parts: readonly Part[], hash: number): [first: Part, last: Part] {
  const start = hash - (hash % NAME_SPAN);
  return [parts[partOf(parts, start)]!, parts[partOf(parts, start + NAME_SPAN - 1)]!];
}

/** The halves of a part, and where the second one starts. */
export function halvesOf({ start, bits }: Part): [Part, Part] {
  return [
    { start, bits: bits + 1 },
    { start: start + 2 ** (HASH_BITS - bits - 1), bits: bits + 1 },
  ];
}
