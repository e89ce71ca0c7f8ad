import { describe, expect, it } from '@jest/globals';
import { endOf, isWithin, WEEKDAYS, type WeeklyTimes } from './weekly.times.ts';

const MINUTE = 60_000;
const DAY = 1440;

/** Clock changes of half an hour, an hour, at night and at midnight, in both directions, and a zone without any. */
const CHANGES = [
  ['Europe/Berlin', '2026-03-29'],
  ['Europe/Berlin', '2026-10-25'],
  ['America/New_York', '2026-03-08'],
  ['America/New_York', '2026-11-01'],
  ['Australia/Lord_Howe', '2026-04-05'],
  ['Australia/Lord_Howe', '2026-10-04'],
  ['Africa/Cairo', '2026-04-24'],
  ['Africa/Cairo', '2026-10-29'],
  ['Asia/Kathmandu', '2026-06-10'],
] as const;

const TIMES = ['00:00', '00:30', '01:00', '01:30', '01:45', '02:00', '02:30', '03:00', '06:00', '22:00', '23:30'];

/** Times and clock changes are at quarters of hours: the minutes before and after each of these near the change. */
const LOOKS = Array.from({ length: 9 * DAY }, (_, minute) => minute).filter((minute) =>
  minute > DAY && minute < 4 * DAY ? [0, 14].includes(minute % 15) : minute % 61 === 0,
);

/** What a wall clock shows, minute by minute, from two days before the change until nine days after it. */
function wallClock(timeZone: string, date: string) {
  const style = { weekday: 'long', hour: '2-digit', minute: '2-digit', hourCycle: 'h23' } as const;
  const format = new Intl.DateTimeFormat('en', { ...style, timeZone });
  const first = Date.parse(`${date}T00:00Z`) - 2 * DAY * MINUTE;
  const shown = Array.from({ length: 11 * DAY }, (_, index) => {
    const parts = new Map(format.formatToParts(first + index * MINUTE).map(({ type, value }) => [type, value]));
    return { day: parts.get('weekday')!.toLowerCase(), time: `${parts.get('hour')}:${parts.get('minute')}` };
  });
  return { first, shown };
}

const BEFORE = new Map(WEEKDAYS.map((day, index) => [day as string, WEEKDAYS[(index + 6) % 7] as string]));

/** By comparing texts: "01:30" comes before "02:00". */
function fits({ weekdays, start, end }: WeeklyTimes, { day, time }: { day: string; time: string }): boolean {
  const begins = (on: string) => weekdays.some((each) => each === on);
  if (start < end) return begins(day) && start <= time && time < end;
  return (begins(day) && start <= time) || (begins(BEFORE.get(day)!) && time < end);
}

/** Different times of the week, the same in every run. */
function* someTimes(timeZone: string): Generator<WeeklyTimes> {
  for (const [index, start] of TIMES.entries()) {
    for (const step of [0, 1, 4]) {
      const weekdays = WEEKDAYS.filter((_, day) => ((index + step + 1) >> (day % 3)) % 2 === 1);
      yield { weekdays, start, end: TIMES[(index + step) % TIMES.length]!, timeZone };
    }
  }
}

describe.each(CHANGES)('a window in %s around %s', (timeZone, date) => {
  const { first, shown } = wallClock(timeZone, date);

  it('is open exactly while a wall clock shows its times, and ends when that clock leaves them', () => {
    for (const times of someTimes(timeZone)) {
      const open = shown.map((clock) => fits(times, clock));
      const wrong: string[] = [];
      for (const minute of LOOKS) {
        const at = first + minute * MINUTE;
        if (isWithin(times, at) !== open[minute]) wrong.push(new Date(at).toISOString());
      }
      for (let minute = 0; minute < 4 * DAY; minute += 173) {
        if (!open[minute]) continue;
        const end = open.indexOf(false, minute);
        const expected = end < 0 ? null : first + end * MINUTE;
        if (expected !== null && endOf(times, first + minute * MINUTE) !== expected) {
          wrong.push(`the end, from ${new Date(first + minute * MINUTE).toISOString()}`);
        }
      }
      expect({ times, wrong }).toEqual({ times, wrong: [] });
    }
  });
});

it('has no end if it is open all the time', () => {
  const always = { weekdays: WEEKDAYS, start: '06:00', end: '06:00', timeZone: 'Europe/Berlin' };
  expect(endOf(always, Date.parse('2026-10-25T00:30Z'))).toBeNull();
});
