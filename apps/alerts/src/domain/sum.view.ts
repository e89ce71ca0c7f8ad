import type { Verdict } from './condition.ts';
import type { CountableEvent } from './event.ts';
import type { SavedSum } from './saved-sum.ts';

/** The sum of a view. */
export interface ViewedSum {
  readonly size: number;
  readonly heldBytes: number;
  readonly unsavedBytes: number;
  timeAt(index: number): number;
  sampleIds(view: SumView): string[];
  take(event: CountableEvent, amount: number, finalUntil: number): void;
  isLedBy(view: SumView): boolean;
  save(view: SumView): SavedSum;
  saved(): void;
  close(view: SumView): void;
}

/**
 * What one rule sees of a sum, which it may share with others: the newest events that reach the rule's threshold or, if
 * they do not, all.
 */
export class SumView {
  readonly threshold: number;
  /** Events received before are not counted, epoch milliseconds. */
  readonly countsFrom: number;
  // The sum changes what follows.
  sum: ViewedSum;
  /** Index of the oldest entry that is seen. */
  start = 0;
  /** Sum of the amounts. */
  total = 0;
  /** Number of events; for events that count something themselves, the sum of their counts. */
  count = 0;
  /** Whether the event that is being added counts. */
  counts = true;
  #wouldHold = false;
  #verdict: Verdict | null = null;

  constructor(sum: ViewedSum, threshold: number, countsFrom: number) {
    this.sum = sum;
    this.threshold = threshold;
    this.countsFrom = countsFrom;
  }

  /** What the last event led to. For a view that was opened since, that is the only event of the sum. */
  get verdict(): Verdict {
    if (this.#verdict === null) this.decide();
    return this.#verdict!;
  }

  /** Adds an event with a positive integer amount: see `Condition.take`. */
  take(event: CountableEvent, amount: number, finalUntil: number): Verdict {
    this.sum.take(event, amount, finalUntil);
    return this.verdict;
  }

  get reachesThreshold(): boolean {
    return this.total >= this.threshold;
  }

  /** Time of the oldest event; if it shares its entry, of the newest event in that entry. */
  get firstTime(): number {
    return this.sum.timeAt(this.start);
  }

  /** Time of the newest event. */
  get lastTime(): number {
    return this.sum.timeAt(this.sum.size - 1);
  }

  /** Ids of the newest events, at most 10, newest first. */
  get sampleIds(): string[] {
    return this.sum.sampleIds(this);
  }

  /** Approximate memory in bytes. That of a shared sum is the first view's. */
  get heldBytes(): number {
    return this.sum.isLedBy(this) ? this.sum.heldBytes : 0;
  }

  /** Approximate number of bytes that storing the result of {@link save} writes. */
  get unsavedBytes(): number {
    return this.sum.isLedBy(this) ? this.sum.unsavedBytes : 0;
  }

  /** Before an event is added: whether it counts. */
  prepare(counts: boolean): void {
    this.counts = counts;
    this.#wouldHold = this.reachesThreshold;
    this.#verdict = 'unchanged';
  }

  /** After an event that counts is added. */
  decide(): void {
    if (!this.reachesThreshold) this.#verdict = 'not_met';
    else this.#verdict = this.#wouldHold ? 'still_true' : 'became_true';
  }

  save(): SavedSum {
    return this.sum.save(this);
  }

  saved(): void {
    if (this.sum.isLedBy(this)) this.sum.saved();
  }

  close(): void {
    this.sum.close(this);
  }
}
