import { clock, clockWithSeconds, shortDay } from '../format/time.ts';

export type Interval = '1s' | '5s' | '15s' | '1min' | '1h' | '1d';

/** How the start of a point is written on an axis. */
export function tickLabel(start: string, interval: Interval, zone: string): string {
  if (interval === '1d') return shortDay(start, zone);
  return interval.endsWith('s') ? clockWithSeconds(start, zone) : clock(start, zone);
}

/** Steps that people count in, of seconds, minutes, hours and days alike. */
const STEPS = [1, 2, 3, 5, 6, 7, 10, 12, 15, 20, 30, 60];

/** Which points of an axis have a label: the first, and then one in each step, about as many as `most`. */
export function labelled(points: number, most: number): number[] {
  const step = STEPS.find((each) => points / each <= most) ?? Math.ceil(points / most);
  return Array.from({ length: Math.ceil(points / step) }, (_, index) => index * step);
}
