/** A bounded number of entries, by the address of their sender. */
export interface FairRoom<T> {
  /** If the room is full, the oldest entry of the address with most entries is evicted. */
  add(address: string, entry: T): void;
  /** Does nothing if the entry is not there. */
  delete(address: string, entry: T): void;
  entries(): T[];
}

/**
 * Bounds what unauthenticated senders hold at a time. The sender with most entries loses first, so that no sender keeps
 * others out. `evict` is called for an entry that was removed.
 */
export function createFairRoom<T>(max: number, evict: (entry: T) => void): FairRoom<T> {
  /** In order of arrival. No set is empty. */
  const byAddress = new Map<string, Set<T>>();
  let size = 0;

  function remove(address: string, entry: T): void {
    const entries = byAddress.get(address);
    if (entries?.delete(entry) !== true) return;
    size -= 1;
    if (entries.size === 0) byAddress.delete(address);
  }

  function makeRoom(): void {
    const [address, entries] = [...byAddress].reduce((most, other) => (other[1].size > most[1].size ? other : most));
    const [oldest] = entries as Set<T> & [T];
    remove(address, oldest);
    evict(oldest);
  }

  return {
    add(address, entry) {
      if (size >= max) makeRoom();
      const entries = byAddress.get(address) ?? new Set();
      byAddress.set(address, entries.add(entry));
      size += 1;
    },
    delete: remove,
    entries: () => [...byAddress.values()].flatMap((entries) => [...entries]),
  };
}
