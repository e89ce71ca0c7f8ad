import { dayOf, startOfDay } from '../format/zoned.ts';
import type { Unfinished } from './unfinished.ts';

const HOUR_MS = 3_600_000;

/**
 * The bars of a whole day (its hours) or month (its days), as instants in milliseconds: where each starts, and at last
 * where the day or month ends. A day has 23, 24, 24.5 or 25 hours.
 */
export function barsOf(kind: Unfinished, start: number, zone: string): number[] {
  const [year = 0, month = 1, date = 1] = dayOf(start, zone).split('-').map(Number);
  const dayAt: DayAt = (months, days) => Date.parse(startOfDay(`${year}-${month + months}-${date + days}`, zone));
  return BARS[kind](start, dayAt);
}

/** An instant in milliseconds: the start of the day so many months and days after the first one. */
type DayAt = (months: number, days: number) => number;

const BARS: Record<Unfinished, (start: number, dayAt: DayAt) => number[]> = {
  day(start, dayAt) {
    const bars: number[] = [];
    const end = dayAt(0, 1);
    for (let at = start; at < end; at += HOUR_MS) bars.push(at);
    return [...bars, end];
  },
  month(start, dayAt) {
    const bars: number[] = [];
    const end = dayAt(1, 0);
    // A date that a zone skips begins with the next one.
    for (let days = 0, at = start; at < end; days += 1, at = dayAt(0, days)) if (bars.at(-1) !== at) bars.push(at);
    return [...bars, end];
  },
};

interface Point {
  start: string;
  /** One for each series. */
  micros: readonly number[];
}

/** The spend from the start to the end of each bar that has begun at `now`, one for each series. */
export function addUp(points: readonly Point[], bars: readonly number[], now: number): number[][] {
  const series = points[0]?.micros.length ?? 0;
  let sums: number[] = Array.from({ length: series }, () => 0);
  let next = 0;
  return bars
    .slice(0, -1)
    .filter((start) => start < now)
    .map((_start, bar) => {
      for (; next < points.length && Date.parse(points[next]!.start) < bars[bar + 1]!; next += 1) {
        const { micros } = points[next]!;
        sums = sums.map((sum, index) => sum + (micros[index] ?? 0));
      }
      return sums;
    });
}

/** From this part of a day or month on, its spend so far says something about its end. As in the API's forecasts. */
const MIN_ELAPSED = 0.05;

/** The spend at the end of each bar that has not ended, at the pace of `spent` since the start. Early on, none. */
export function projectionOf(bars: readonly number[], now: number, spent: number): (number | undefined)[] {
  const start = bars[0]!;
  const elapsed = now - start;
  if (elapsed < MIN_ELAPSED * (bars.at(-1)! - start)) return [];
  return bars.slice(1).map((at) => (at <= now ? undefined : Math.round((spent * (at - start)) / elapsed)));
}
