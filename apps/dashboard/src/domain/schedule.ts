import { type CalendarPeriod, periodAt, type TenantId, type TimeSpan, toLocal } from '@tollkeeper/kernel';

export const SCHEDULE_KINDS = ['daily', 'monthly'] as const;
export type ScheduleKind = (typeof SCHEDULE_KINDS)[number];

interface KindOfSchedule {
  /** What a file has. */
  period: CalendarPeriod;
  /** The part of the period's first date that names it. */
  nameLength: number;
  /** How many periods back a file can be asked for, or is still sent after downtime. */
  catchUp: number;
}

const KINDS: Readonly<Record<ScheduleKind, KindOfSchedule>> = {
  daily: { period: { kind: 'day', startMonth: 1, startDay: 1 }, nameLength: 'YYYY-MM-DD'.length, catchUp: 31 },
  monthly: { period: { kind: 'month', startMonth: 1, startDay: 1 }, nameLength: 'YYYY-MM'.length, catchUp: 12 },
};

/** The calendar of a workspace, by which its files are sent. Periods are named by their first local date. */
export interface ScheduleCalendar {
  /** The period that contains the time. */
  at(time: number): string;
  spanOf(period: string): TimeSpan;
  next(period: string): string;
  /** When its file is due: at the local time of day, on the day after it. */
  dueAt(period: string): number;
  /** The last period that has ended, and the first whose file can still be sent. */
  lastEnded(now: number): string;
  oldest(now: number): string;
}

/** `timeOfDay` is `HH:MM`. A time that the clocks skip is the same time by the clocks before. */
export function scheduleCalendar(kind: ScheduleKind, timezone: string, timeOfDay: string): ScheduleCalendar {
  const { period: calendarPeriod, catchUp } = KINDS[kind];
  const dateOf = (time: number) => toLocal(time, timezone).toPlainDate();
  const spanAt = (time: number) => periodAt(calendarPeriod, timezone, time);
  const spanOf = (period: string) => {
    const date = toLocal(Date.parse(period), 'UTC').toPlainDate();
    return spanAt(date.toZonedDateTime({ timeZone: timezone }).epochMilliseconds);
  };
  const back = (now: number, count: number): string => {
    let { start } = spanAt(now);
    for (let left = count; left > 0; left -= 1) ({ start } = spanAt(start - 1));
    return dateOf(start).toString();
  };
  return {
    at: (time) => back(time, 0),
    spanOf,
    next: (period) => dateOf(spanOf(period).end).toString(),
    dueAt(period) {
      const date = dateOf(spanOf(period).end);
      return date.toZonedDateTime({ timeZone: timezone, plainTime: timeOfDay }).epochMilliseconds;
    },
    lastEnded: (now) => back(now, 1),
    oldest: (now) => back(now, catchUp),
  };
}

/** The object of a period's file. It follows from the period alone, so a repeat replaces the object. */
export function objectKeyOf(
  { prefix, extension }: { prefix: string; extension: string },
  { tenantId, kind, period }: { tenantId: TenantId; kind: ScheduleKind; period: string },
): string {
  return `${prefix}${tenantId}/${kind}/${period.slice(0, KINDS[kind].nameLength)}.${extension}`;
}
