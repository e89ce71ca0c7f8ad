import { clock, clockWithSeconds, shortDay } from '../format/time.ts';

export type Interval = '1s' | '5s' | '15s' | '1min' | '1h' | '1d';

/** Label of a point's start on an axis. */
export function tickLabel(start: string, interval: Interval, zone: string): string {
  if (interval === '1d') return shortDay(start, zone);
  return interval.endsWith('s') ? clockWithSeconds(start, zone) : clock(start, zone);
}

/** Common steps for seconds, minutes, hours and days. */
const STEPS = [1, 2, 3, 5, 6, 7, 10, 12, 15, 20, 30, 60];

/** The points of an axis with a label: the first, and then one in each step, about `most` in all. */
export function labelled(points: number, most: number): number[] {
  const step = STEPS.find((each) => points / each <= most) ?? Math.ceil(points / most);
  return Array.from({ length: Math.ceil(points / step) }, (_, index) => index * step);
}

/** Round values from 0 to `highest` or just above, with about `most` steps between them; none if `highest` is 0. */
export function steps(highest: number, most: number): number[] {
  if (highest === 0) return [];
  const least = highest / most;
  const power = 10 ** Math.floor(Math.log10(least));
  // Integers, because charts have no fractions.
  const step = Math.max(1, ([1, 2, 5].find((each) => each * power >= least) ?? 10) * power);
  return Array.from({ length: Math.ceil(highest / step) + 1 }, (_, index) => index * step);
}
