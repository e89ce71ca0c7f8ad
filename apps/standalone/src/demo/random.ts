/** Reproducible randomness: a seed gives the same sequence on every machine (mulberry32). */
export interface Random {
  /** From 0 (inclusive) to 1 (exclusive). */
  fraction(): number;
  /** An integer from `min` to `max`, both inclusive. */
  integer(min: number, max: number): number;
  pick<T>(items: readonly [T, ...T[]]): T;
  /** A Poisson-distributed integer with this mean, like a count of independent arrivals (Knuth; for means under 50). */
  poisson(mean: number): number;
}

export function createRandom(seed: number): Random {
  let state = seed >>> 0;
  const fraction = () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = state;
    mixed = Math.imul(mixed ^ (mixed >>> 15), mixed | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
  return {
    fraction,
    integer: (min, max) => min + Math.floor(fraction() * (max - min + 1)),
    pick: (items) => items[Math.floor(fraction() * items.length)] ?? items[0],
    poisson(mean) {
      const limit = Math.exp(-mean);
      let count = 0;
      for (let product = fraction(); product > limit; product *= fraction()) count += 1;
      return count;
    },
  };
}
