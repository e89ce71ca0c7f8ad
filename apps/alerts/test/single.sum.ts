import { type Occurrence, SlidingSum, type SlidingSumOptions } from '../src/domain/sliding-sum.ts';
import type { SumView } from '../src/domain/sum.view.ts';

/** A sum with a view. */
export class Single {
  readonly sum: SlidingSum;
  readonly view: SumView;

  constructor({ threshold, ...options }: SlidingSumOptions & { threshold: number }) {
    this.sum = new SlidingSum(options);
    this.view = this.sum.open(threshold, 0);
  }
  /** Whether the event counts. */
  add(event: Occurrence, amount: number, finalUntil: number): boolean {
    this.sum.add(event, amount, finalUntil);
    return this.view.verdict !== 'unchanged';
  }
  seen() {
    const { total, count, sampleIds } = this.view;
    return { size: this.sum.size, count, total, sampleIds };
  }
  save = () => this.view.save();
  saved = () => this.view.saved();
}

export interface Addend extends Occurrence {
  amount: number;
}
