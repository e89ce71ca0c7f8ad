/** Entries by the address of their sender, up to a number. */
export interface FairRoom<T> {
  /** If the room is full, the oldest entry of the address that has the most makes room. */
  add(address: string, entry: T): void;
  /** Nothing if it is not there. */
  delete(address: string, entry: T): void;
  entries(): T[];
}

/**
 * Room for what senders that nobody knows yet may hold at a time. The sender that takes most of it loses first, so that
 * no sender keeps others out. `evict` is called for an entry that has left the room.
 */
export function createFairRoom<T>(max: number, evict: (entry: T) => void): FairRoom<T> {
  /** Each in the order of arrival. None is empty. */
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
