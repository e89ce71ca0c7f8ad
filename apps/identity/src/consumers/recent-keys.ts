export interface RecentKeys {
  has(key: string): boolean;
  add(key: string): void;
}

/** A set of at most `max` keys: the one that was added or asked for longest ago makes room. */
export function createRecentKeys(max: number): RecentKeys {
  // A Set iterates in insertion order, so its first key is the oldest.
  const keys = new Set<string>();
  const touch = (key: string): void => {
    keys.delete(key);
    keys.add(key);
  };
  return {
    has(key) {
      if (!keys.has(key)) return false;
      touch(key);
      return true;
    },
    add(key) {
      touch(key);
      const [oldest] = keys;
      if (keys.size > max && oldest !== undefined) keys.delete(oldest);
    },
  };
}
