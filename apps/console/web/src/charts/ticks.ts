import { clock, clockWithSeconds, shortDay } from '../format/time.ts';

export type Interval = '1s' | '5s' | '15s' | '1min' | '1h' | '1d';

/** How the start of a point is written on an axis. */
export function tickLabel(start: string, interval: Interval, zone: string): string {
  if (interval === '1d') return shortDay(start, zone);
  return interval.endsWith('s') ? clockWithSeconds(start, zone) : clock(start, zone);
}

/** Which points of an axis have a label: the first, and then each that is `most` from the one before. */
export function labelled(points: number, most: number): number[] {
  const step = Math.max(
    1,
    ...[1, 2, 3, 5, 6, 7, 10, 12, 14, 15, 20, 30].filter((s) => points / s > most).map((s) => s + 1),
  );
  const nice = [1, 2, 3, 5, 6, 7, 10, 12, 14, 15, 20, 30, 60].find((s) => s >= step) ?? step;
  return Array.from({ length: Math.ceil(points / nice) }, (_, index) => index * nice);
}
