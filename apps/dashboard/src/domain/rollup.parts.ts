import type { RowKind } from './rollup.ts';

/**
 * Rows lie in parts, each of which holds those with hashes from `start` up to but not including `end`. A part that
 * outgrows its room is divided in the middle of its rows, and no other part is. So an event rewrites little, whatever
 * else its workspace does, and no part is empty: there are as many as the rows need. While all rows of a kind are one
 * part, they lie in the document of the workspace.
 */
export interface Part {
  start: number;
  end: number;
}

/** Bits of the hash of a row. The first ones are those of its name: the rows of an agent lie side by side. */
export const HASH_BITS = 48;
export const NAME_BITS = 24;
const NAME_SPAN = 2 ** (HASH_BITS - NAME_BITS);

/** How many parts the rows of a kind lie in. Infinity when it is not known. */
export type PartCounts = Record<RowKind, number>;

const HASHES = 2 ** HASH_BITS;

/** The parts with these starts, in order; none of them is 0, where the first part starts. */
export function partsFrom(starts: readonly number[]): Part[] {
  return [0, ...starts].map((start, index) => ({ start, end: starts[index] ?? HASHES }));
}

/** All rows in one part. */
export const UNDIVIDED: readonly Part[] = partsFrom([]);

/** Whether it holds all rows, so that it is the only part. */
export function isUndivided({ start, end }: Part): boolean {
  return end - start === HASHES;
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

/**
 * Divides a part with rows of these hashes near the middle, and between two names if it has several, so that most names
 * lie in one part. Undefined when all hashes are the same.
 */
export function halvesOf({ start, end }: Part, hashes: readonly number[]): [Part, Part] | undefined {
  const sorted = [...hashes].sort((a, b) => a - b);
  const [least, middle, most] = [sorted[0]!, sorted[sorted.length >> 1]!, sorted.at(-1)!];
  const name = middle - (middle % NAME_SPAN);
  const at = [name, name + NAME_SPAN, middle].find((hash) => hash > least && hash <= most) ?? most;
  return at === least
    ? undefined
    : [
        { start, end: at },
        { start: at, end },
      ];
}
