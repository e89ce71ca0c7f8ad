import type { RowKind } from './rollup.ts';

/**
 * Rows lie in parts. A part holds the rows with hashes from `start` up to but not including `end`. A part that outgrows
 * its room is divided in the middle of its rows; the others stay as they are. So an event rewrites little, whatever
 * else its workspace does, and no part is empty. While all rows of a kind form one part, they lie in the document of
 * the workspace.
 */
export interface Part {
  start: number;
  end: number;
}

/** Bits of the hash of a row. The first bits are those of its name, so the rows of an agent lie side by side. */
export const HASH_BITS = 48;
export const NAME_BITS = 24;
const NAME_SPAN = 2 ** (HASH_BITS - NAME_BITS);

/** Number of parts that hold the rows of a kind. Infinity when it is not known. */
export type PartCounts = Record<RowKind, number>;

const HASHES = 2 ** HASH_BITS;

/** The parts with these starts, in order. The first part starts at 0, which is not in the list. */
export function partsFrom(starts: readonly number[]): Part[] {
  return [0, ...starts].map((start, index) => ({ start, end: starts[index] ?? HASHES }));
}

/** All rows in one part. */
export const UNDIVIDED: readonly Part[] = partsFrom([]);

/** Whether the part holds all rows, so that it is the only one. */
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

/** The first and the last part that can hold rows of the name that `hash` belongs to. */
export function partsOfName(parts: readonly Part[], hash: number): [first: Part, last: Part] {
  const start = hash - (hash % NAME_SPAN);
  return [parts[partOf(parts, start)]!, parts[partOf(parts, start + NAME_SPAN - 1)]!];
}

/**
 * Divides a part with rows of these hashes near the middle. If it has several names, it is divided between two of them,
 * so most names lie in one part. Undefined when all hashes are the same.
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
