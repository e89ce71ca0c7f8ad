/**
 * The size of an `LRUCache` that holds up to `entries` and allocates memory as they are added. `max` would allocate it
 * all at once: 28 bytes for each possible entry.
 */
export function roomFor(entries: number): { maxSize: number; sizeCalculation: () => number } {
  return { maxSize: entries, sizeCalculation: () => 1 };
}
