import { formats as words } from '../text/formats.ts';

type Style = Intl.DateTimeFormatOptions;

const formats = new Map<string, Intl.DateTimeFormat>();

function format(instant: string | number, zone: string, style: Style): string {
  return formatOf(zone, style).format(new Date(instant));
}

function formatOf(zone: string, style: Style): Intl.DateTimeFormat {
  const key = `${zone} ${JSON.stringify(style)}`;
  let found = formats.get(key);
  if (found === undefined) {
    found = new Intl.DateTimeFormat(words.dates, { ...style, timeZone: zone });
    formats.set(key, found);
  }
  return found;
}

const CLOCK: Style = { hour: '2-digit', minute: '2-digit', hourCycle: 'h23' };

/** "16:02" */
export function clock(instant: string | number, zone: string): string {
  return format(instant, zone, CLOCK);
}

/** "16:02:09" */
export function clockWithSeconds(instant: string | number, zone: string): string {
  return format(instant, zone, { ...CLOCK, second: '2-digit' });
}

/** "22 Nov" */
export function shortDay(instant: string | number, zone: string): string {
  return format(instant, zone, { day: 'numeric', month: 'short' });
}

const DATE: Style = { day: 'numeric', month: 'short', year: 'numeric' };

/** "22 Nov 2026" */
export function date(instant: string | number, zone: string): string {
  return format(instant, zone, DATE);
}

/** "1 – 31 Oct 2026": the days that the span touches. */
export function dates({ start, end }: { start: string; end: string }, zone: string): string {
  return formatOf(zone, DATE).formatRange(new Date(start), new Date(Date.parse(end) - 1));
}

/** "22 November" */
export function longDay(instant: string | number, zone: string): string {
  return format(instant, zone, { day: 'numeric', month: 'long' });
}

/** "April" for 3, as JavaScript counts months. */
export function monthName(month: number): string {
  return format(Date.UTC(2026, month), 'UTC', { month: 'long' });
}

/** "November 2026" for `2026-11`. */
export function monthOfYear(month: string): string {
  return format(`${month}-01`, 'UTC', { month: 'long', year: 'numeric' });
}

/** "Nov 2026" for `2026-11`. */
export function shortMonth(month: string): string {
  return format(`${month}-01`, 'UTC', { month: 'short', year: 'numeric' });
}

/** "22 Nov 2026, 16:02:09"; the zone is shown beside it. */
export function dateTime(instant: string | number, zone: string): string {
  return format(instant, zone, { ...DATE, ...CLOCK, second: '2-digit' });
}

/** "22 Nov, 16:02:09" in the year of `now`, else with the year. */
export function dateTimeOf(instant: string | number, zone: string, now: number): string {
  const year: Style = { year: 'numeric' };
  if (format(instant, zone, year) !== format(now, zone, year)) return dateTime(instant, zone);
  return `${shortDay(instant, zone)}, ${clockWithSeconds(instant, zone)}`;
}

/** "22 Nov 2026, 02:00:00 GMT+1": distinguishes the repeated hour of a day of 25 hours. */
export function dateTimeWithOffset(instant: string | number, zone: string): string {
  return `${dateTime(instant, zone)} ${format(instant, zone, { timeZoneName: 'shortOffset' }).split(' ').at(-1)}`;
}

const SECOND = 1_000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

/** "7 h 14 min", "41 min", "9 s", "3 d": the two largest units if the second one matters. */
export function duration(ms: number): string {
  if (ms < HOUR || ms >= DAY) return largestUnit(ms);
  const minutes = Math.floor((ms % HOUR) / MINUTE);
  return minutes === 0 ? largestUnit(ms) : `${largestUnit(ms)} ${words.minutes(minutes)}`;
}

/** As `duration`, rounded up, so that waiting this long is always enough. */
export function timeLeft(ms: number): string {
  const unit = ms <= MINUTE - SECOND ? SECOND : MINUTE;
  return duration(Math.ceil(ms / unit) * unit);
}

function largestUnit(ms: number): string {
  if (ms < MINUTE) return words.seconds(Math.max(0, Math.floor(ms / SECOND)));
  if (ms < HOUR) return words.minutes(Math.floor(ms / MINUTE));
  return ms < DAY ? words.hours(Math.floor(ms / HOUR)) : words.days(Math.floor(ms / DAY));
}

/** "12 min ago", "in 3 h", "just now": only the largest unit. */
export function relative(instant: string | number, now: number): string {
  const ms = new Date(instant).getTime() - now;
  if (Math.abs(ms) < SECOND) return words.justNow;
  const size = largestUnit(Math.abs(ms));
  return ms < 0 ? words.ago(size) : words.ahead(size);
}
