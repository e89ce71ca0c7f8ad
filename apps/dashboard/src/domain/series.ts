import { localDays, type TimeSpan, type TimeWindow } from '@tollkeeper/kernel';

const HOUR_MS = 3_600_000;

/** Lengths of a series' points, shortest first, without the longest: `1d`, a local day. */
const STEPS_MS = [
  ['1s', 1000],
  ['5s', 5000],
  ['15s', 15_000],
  ['1min', 60_000],
  ['1h', HOUR_MS],
] as const;
type Interval = (typeof STEPS_MS)[number][0] | '1d';
const MAX_POINTS = 120;

export interface Series {
  interval: Interval;
  /** Neighbours share their boundary; the first starts with the window and the last ends with it. */
  points: TimeSpan[];
}

/**
 * Cuts a window into at most 120 intervals, the shortest that do, or else into days. Points follow the local calendar:
 * days are local days, and each local day restarts the hours. So a day with a clock change has 23 or 25 hours (or a
 * half hour where clocks move by 30 minutes). Windows of 2 to 12 hours and of 5 to 12 days get fewer than 12 points,
 * since there is no interval between a minute, an hour and a day. Where events have been removed, points last at least
 * an hour, because the roll-ups of agents are not finer.
 */
export function seriesOf(window: TimeWindow & { eventsFrom?: number }): Series {
  const lengthMs = window.end - window.start;
  const shortestMs = window.eventsFrom === undefined ? 0 : HOUR_MS;
  for (const [interval, stepMs] of STEPS_MS) {
    if (stepMs >= shortestMs && lengthMs <= MAX_POINTS * stepMs) return { interval, points: steps(window, stepMs) };
  }
  return { interval: '1d', points: daysOf(window) };
}

/** The local days of a window. The first and the last are cut off at its ends. */
export function daysOf(window: TimeWindow): TimeSpan[] {
  return localDays(window, window.timezone).map((day) => clip(day, window));
}

function steps(window: TimeWindow, stepMs: number): TimeSpan[] {
  const points: TimeSpan[] = [];
  const days = window.end - window.start < HOUR_MS ? [window] : localDays(window, window.timezone);
  for (const day of days) {
    const { start, end } = clip(day, window);
    for (let time = start; time < end; time += stepMs) points.push({ start: time, end: Math.min(time + stepMs, end) });
  }
  return points;
}

function clip(span: TimeSpan, within: TimeSpan): TimeSpan {
  return { start: Math.max(span.start, within.start), end: Math.min(span.end, within.end) };
}
