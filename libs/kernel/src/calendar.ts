import { Temporal } from 'temporal-polyfill';

/** The ranges that a dashboard query can name. */
export const RANGE_KINDS = [
  '15s',
  '30s',
  '1min',
  '5min',
  '10min',
  '15min',
  '30min',
  '45min',
  'today',
  'yesterday',
  '1m',
  '3m',
  'current_month',
  'last_week',
  'last_month',
  'last_quarter',
] as const;
export type RangeKind = (typeof RANGE_KINDS)[number];

/** A half-open span `[start, end)` in milliseconds since the Unix epoch. */
export interface TimeSpan {
  start: number;
  end: number;
}

/** The span of a range at one instant in one time zone, or a `custom` one with a start and an end of its own. */
export interface TimeWindow extends TimeSpan {
  kind: RangeKind | 'custom';
  /** IANA name of the zone whose calendar the span follows. */
  timezone: string;
}

const SECOND_MS = 1000;
const MINUTE_MS = 60 * SECOND_MS;

const ROLLING_MS = {
  '15s': 15 * SECOND_MS,
  '30s': 30 * SECOND_MS,
  '1min': MINUTE_MS,
  '5min': 5 * MINUTE_MS,
  '10min': 10 * MINUTE_MS,
  '15min': 15 * MINUTE_MS,
  '30min': 30 * MINUTE_MS,
  '45min': 45 * MINUTE_MS,
} as const satisfies Partial<Record<RangeKind, number>>;

/** Ranges that are whole spans of the calendar, the last that have ended, by their lengths. */
const WHOLE = {
  yesterday: { days: 1 },
  last_week: { weeks: 1 },
  last_month: { months: 1 },
  last_quarter: { months: 3 },
} as const satisfies Partial<Record<RangeKind, Temporal.DurationLike>>;

/**
 * An IANA time zone name in IANA's spelling: `Europe/Berlin` for `europe/berlin`. A link such as `US/Pacific` is kept.
 * Null for names that the calendar does not support; offsets such as `+05:30` are not names. This asks Temporal,
 * because Intl also accepts ICU names that Temporal refuses, such as `JST`.
 */
export function canonicalTimezone(name: string): string | null {
  if (!/^[A-Za-z]/.test(name)) return null;
  try {
    return toLocal(0, name).timeZoneId;
  } catch {
    return null;
  }
}

/**
 * The window that `range` names at the instant `now`. Rolling ranges end now. `today`, `yesterday`, `current_month` and
 * the `last_` ranges are calendar spans of `timezone`; weeks start on Monday, and quarters in January, April, July and
 * October. `1m` and `3m` reach back to the same wall-clock time one and three calendar months ago, or to the last day
 * of that month if it is shorter. An unknown or absent range is `current_month`.
 *
 * @throws RangeError if `timezone` is not a time zone; check it with {@link canonicalTimezone} first.
 */
export function resolveRange(range: string | undefined, timezone: string, now: number): TimeWindow {
  const kind = RANGE_KINDS.find((known) => known === range) ?? 'current_month';
  if (isRolling(kind)) return { kind, start: now - ROLLING_MS[kind], end: now, timezone };

  const local = toLocal(now, timezone);
  if (isWhole(kind)) {
    const end = startOfCurrent(kind, local);
    const start = end.subtract(WHOLE[kind]).startOfDay();
    return { kind, start: start.epochMilliseconds, end: end.epochMilliseconds, timezone };
  }
  switch (kind) {
    case 'today':
      return { kind, start: local.startOfDay().epochMilliseconds, end: now, timezone };
    case '1m':
      return { kind, start: local.subtract({ months: 1 }).epochMilliseconds, end: now, timezone };
    case '3m':
      return { kind, start: local.subtract({ months: 3 }).epochMilliseconds, end: now, timezone };
    case 'current_month':
      return { kind, start: local.with({ day: 1 }).startOfDay().epochMilliseconds, end: now, timezone };
  }
}

function isRolling(kind: RangeKind): kind is keyof typeof ROLLING_MS {
  return Object.hasOwn(ROLLING_MS, kind);
}

function isWhole(kind: TimeWindow['kind']): kind is keyof typeof WHOLE {
  return Object.hasOwn(WHOLE, kind);
}

/** Start of the day, week, month or quarter that `local` lies in. */
function startOfCurrent(kind: keyof typeof WHOLE, local: Temporal.ZonedDateTime): Temporal.ZonedDateTime {
  switch (kind) {
    case 'yesterday':
      return local.startOfDay();
    case 'last_week':
      return local.subtract({ days: local.dayOfWeek - 1 }).startOfDay();
    case 'last_month':
      return local.with({ day: 1 }).startOfDay();
    case 'last_quarter':
      return local.with({ month: local.month - ((local.month - 1) % 3), day: 1 }).startOfDay();
  }
}

/**
 * The earlier span for a like-for-like comparison: `today` with yesterday up to the same wall-clock time,
 * `current_month` with last month up to the same day and time, and any other window with the span just before it, which
 * for calendar spans is the day, week, month or quarter before, and for whole days as many days.
 */
export function comparedSpan({ kind, start, end, timezone }: TimeWindow): TimeSpan {
  const back = (epochMs: number, length: Temporal.DurationLike) => toLocal(epochMs, timezone).subtract(length);
  if (isWhole(kind)) return { start: back(start, WHOLE[kind]).startOfDay().epochMilliseconds, end: start };
  switch (kind) {
    case 'today': {
      const sameTime = back(end, { days: 1 });
      return { start: sameTime.startOfDay().epochMilliseconds, end: Math.min(sameTime.epochMilliseconds, start) };
    }
    case 'current_month': {
      const lastMonth = back(start, { months: 1 }).startOfDay().epochMilliseconds;
      return { start: lastMonth, end: Math.min(back(end, { months: 1 }).epochMilliseconds, start) };
    }
    case '1m':
      return { start: back(start, { months: 1 }).epochMilliseconds, end: start };
    case '3m':
      return { start: back(start, { months: 3 }).epochMilliseconds, end: start };
    case 'custom': {
      const days = localDays({ start, end }, timezone);
      if (days[0]?.start !== start || days.at(-1)!.end !== end) return { start: start - (end - start), end: start };
      return { start: back(start, { days: days.length }).startOfDay().epochMilliseconds, end: start };
    }
    default:
      return { start: start - (end - start), end: start };
  }
}

/**
 * The local calendar days that `[start, end)` touches, oldest first. Each is a whole day from its first instant to that
 * of the next day, so a day with a clock change lasts 23, 24.5 or 25 hours, and neighbors share their boundary. An
 * empty span touches no day.
 */
export function localDays(span: TimeSpan, timezone: string): TimeSpan[] {
  const days: TimeSpan[] = [];
  if (span.start >= span.end) return days;
  let date = toLocal(span.start, timezone).toPlainDate();
  let start = startOfDate(date, timezone);
  while (start < span.end) {
    date = date.add({ days: 1 });
    const end = startOfDate(date, timezone);
    // A zone that jumps the date line skips a whole date, which is a day of no length.
    if (end > start) days.push({ start, end });
    start = end;
  }
  return days;
}

/** A month of the calendar, such as `2026-11`, in a time zone. */
export function monthSpan(month: string, timezone: string): TimeSpan {
  const date = Temporal.PlainDate.from(`${month}-01`);
  return { start: startOfDate(date, timezone), end: startOfDate(date.add({ months: 1 }), timezone) };
}

/** The month in which the instant lies, such as `2026-11`; `back` months before it if given. */
export function monthAt(epochMs: number, timezone: string, back = 0): string {
  return toLocal(epochMs, timezone).toPlainDate().toPlainYearMonth().subtract({ months: back }).toString();
}

export function toLocal(epochMs: number, timezone: string): Temporal.ZonedDateTime {
  return Temporal.Instant.fromEpochMilliseconds(epochMs).toZonedDateTimeISO(timezone);
}

export function startOfDate(date: Temporal.PlainDate, timezone: string): number {
  return date.toZonedDateTime({ timeZone: timezone }).epochMilliseconds;
}
