import { type CountableEvent, MAX_LATENESS_MS, MAX_RECEIPT_DISORDER_MS } from './event.ts';
import type { SavedSum } from './saved-sum.ts';
import { MAX_COUNTED_MICROS, SumCondition, type SumWindow } from './sum.condition.ts';

/** Within this range of event times, a settlement may arrive again. */
const REPEATS_MS = 2 * MAX_LATENESS_MS + MAX_RECEIPT_DISORDER_MS;
/** Approximate upper bound of the memory in bytes: 4000 to 5000 settlements. */
export const RECENT_BYTES = 128_000;

/**
 * Tells settlements that arrive again from new ones, for conditions that keep sums by time. Rules over the same
 * settlements keep them once. Beyond 4000 settlements in 15 minutes, one that arrives again may count twice.
 */
export class RecentSettlements {
  readonly #kept: SumCondition;

  constructor(window: SumWindow, saved?: SavedSum) {
    this.#kept = new SumCondition('spend_gte', { ...window, windowMs: REPEATS_MS }, MAX_COUNTED_MICROS, saved);
  }

  /** Whether the event settles something and comes for the first time. */
  isNew(event: CountableEvent): boolean {
    return this.#kept.take(event) !== 'unchanged';
  }

  get heldBytes(): number {
    return this.#kept.heldBytes;
  }

  get unsavedBytes(): number {
    return this.#kept.unsavedBytes;
  }

  save(): SavedSum {
    return this.#kept.saveSum();
  }

  saved(): void {
    this.#kept.saved();
  }

  close(): void {
    this.#kept.close();
  }
}
