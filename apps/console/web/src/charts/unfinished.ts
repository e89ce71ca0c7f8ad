import type { Range } from '../app/span-search.ts';

/** A day or a month that has not ended. */
export type Unfinished = 'day' | 'month';

/** The ranges that are its part so far, which can be drawn up to its end. */
const UNFINISHED: Partial<Record<Range, Unfinished>> = { today: 'day', current_month: 'month' };

export function unfinishedOf(range: Range): Unfinished | undefined {
  return UNFINISHED[range];
}
