import type { RowKind } from './rollup.ts';

/**
 * The rows of a roll-up with many agents lie in several parts, by the hash of the agent. So an event rewrites little,
 * and an agent is read from one part. Rows of whole days take less room than those of their hours, so they lie in fewer
 * parts. Part 0 also holds what the whole workspace did.
 */
export const MAX_PARTS = 4_096;

/** Into how many parts the rows of a roll-up are divided. Infinity when it is not known. */
export type Parts = Record<RowKind, number>;

/** By how much the number of parts grows. Each part is then divided among as many, and no other part. */
export const PARTS_GROWTH = 4;

/** The part of an agent. Stored roll-ups depend on it, so it never changes. */
export function partOf(agentId: string, parts: number): number {
  return fnv1a(agentId) % parts;
}

/** FNV-1a with 32 bits, over UTF-16 code units. */
function fnv1a(text: string): number {
  let hash = 0x811c9dc5;
  for (let at = 0; at < text.length; at += 1) hash = Math.imul(hash ^ text.charCodeAt(at), 0x01000193);
  // The low bits of FNV depend on the low bits of the text alone.
  return (hash ^ (hash >>> 15)) >>> 0;
}
