import type { SlidingSum } from './sliding-sum.ts';

/** The sums that rules of one workspace can join, so that rules over the same events keep them once. */
export class SharedSums {
  readonly #open = new Map<string, SlidingSum>();

  /** The sum with this key: one that others opened since the last `next`, or a new one. */
  join(key: string, begin: () => SlidingSum): SlidingSum {
    const sum = this.#open.get(key) ?? begin();
    this.#open.set(key, sum);
    return sum;
  }

  /** Call before each event, since sums that are open by then have counted other events. */
  next(): void {
    this.#open.clear();
  }
}
