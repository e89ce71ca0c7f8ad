/** What is counted over a span of time. Tallies of disjoint spans add up to the tally of their union. */
export interface Tally {
  /** USD micros of the settlements. */
  totalMicros: number;
  settlements: number;
  budgetBlocked: number;
  guardBlocked: number;
  /** Time of the newest event of any type, in epoch milliseconds; 0 when there was none. */
  lastAt: number;
}

export function emptyTally(): Tally {
  return { totalMicros: 0, settlements: 0, budgetBlocked: 0, guardBlocked: 0, lastAt: 0 };
}

/** Adds `other` to `into`. */
export function addTally(into: Tally, other: Tally): void {
  into.totalMicros += other.totalMicros;
  into.settlements += other.settlements;
  into.budgetBlocked += other.budgetBlocked;
  into.guardBlocked += other.guardBlocked;
  into.lastAt = Math.max(into.lastAt, other.lastAt);
}

/** Adds the tally of `key` in a map that starts empty. */
export function addTallyTo<K>(map: Map<K, Tally>, key: K, tally: Tally): void {
  const known = map.get(key);
  if (known === undefined) map.set(key, { ...tally });
  else addTally(known, tally);
}
