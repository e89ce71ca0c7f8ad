/**
 * The size of an `LRUCache` that holds up to `entries` and takes memory as they come. `max` would allocate all of it at
 * once: 28 bytes for each entry that may ever be there.
 */
export function roomFor(entries: number): { maxSize: number; sizeCalculation: () => number } {
  return { maxSize: entries, sizeCalculation: () => 1 };
}
