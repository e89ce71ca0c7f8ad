import { toLocal } from '@tollkeeper/kernel';

/** In the order of ISO 8601, which numbers them from 1. */
export const WEEKDAYS = ['monday', 'tuesday', 'wednesday', 'thursday', 'friday', 'saturday', 'sunday'] as const;
type Weekday = (typeof WEEKDAYS)[number];

/**
 * Times of the week as a wall clock of the zone shows them: from `start` until before `end`, on each of the weekdays.
 * If `end` is not after `start`, it is that of the next day. An hour that a clock change repeats counts both times, one
 * that it skips counts not at all.
 */
export interface WeeklyTimes {
  weekdays: readonly Weekday[];
  /** `HH:MM`, like `end`. */
  start: string;
  end: string;
  /** IANA name. */
  timeZone: string;
}

/** Whether `at`, epoch milliseconds, is within the times. */
export function isWithin({ weekdays, start, end, timeZone }: WeeklyTimes, at: number): boolean {
  const { dayOfWeek, hour, minute } = toLocal(at, timeZone);
  const now = 60 * hour + minute;
  const [from, to] = [minutesOf(start), minutesOf(end)];
  const today = weekdays.includes(WEEKDAYS[dayOfWeek - 1]!);
  if (from < to) return today && from <= now && now < to;
  const yesterday = weekdays.includes(WEEKDAYS[(dayOfWeek + 5) % 7]!);
  return (today && from <= now) || (yesterday && now < to);
}

/** More than a week: times without an end within it have none. */
const HORIZON_MS = 8 * 86_400_000;

/** When the times that `at` is within end, epoch milliseconds; null if they never do. */
export function endOf(times: WeeklyTimes, at: number): number | null {
  for (let next = at; next < at + HORIZON_MS;) {
    next = nextBoundary(times, next);
    if (!isWithin(times, next)) return next;
  }
  return null;
}

/** The next instant after `at` at which times can end: their end, or a clock change. */
function nextBoundary({ end, timeZone }: WeeklyTimes, at: number): number {
  const local = toLocal(at, timeZone);
  const minutes = minutesOf(end);
  const time = { hour: Math.floor(minutes / 60), minute: minutes % 60 };
  const ends = [0, 1, 2].flatMap((days) => {
    const wall = local.toPlainDate().add({ days }).toPlainDateTime(time);
    // A time that a clock change repeats is two instants.
    const instants = (['earlier', 'later'] as const).map((which) =>
      wall.toZonedDateTime(timeZone, { disambiguation: which }),
    );
    return instants.map(({ epochMilliseconds }) => epochMilliseconds);
  });
  const change = local.getTimeZoneTransition('next')?.epochMilliseconds ?? Infinity;
  return Math.min(...[...ends, change].filter((instant) => instant > at));
}

function minutesOf(time: string): number {
  return 60 * Number(time.slice(0, 2)) + Number(time.slice(3));
}
