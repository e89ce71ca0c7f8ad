import type { Api } from '@tollkeeper/client';
import { instantOf, localOf } from '../../format/zoned.ts';
import type { PeriodKind, PeriodOf } from '../../text/budget-sentence.ts';
import { text } from '../../text/index.ts';

const words = text.budgets.form;
const HOUR_SECONDS = 3_600;

/** The fields of periods as typed. `start` and `end` are times in the zone of the workspace. */
export interface PeriodFields {
  startMonth: string;
  startDay: string;
  start: string;
  end: string;
  hours: string;
}

export const EMPTY_PERIOD: PeriodFields = { startMonth: '1', startDay: '1', start: '', end: '', hours: '24' };

interface PeriodField {
  /** Its name in the API. */
  path: string;
  /** The problem with the typed text, if it cannot be sent. */
  problem(typed: string, zone: string): string | undefined;
}

export const PERIOD_FIELDS: Record<keyof PeriodFields, PeriodField> = {
  startMonth: { path: 'period.start_month', problem: wholeProblem },
  startDay: { path: 'period.start_day', problem: wholeProblem },
  start: { path: 'period.start', problem: timeProblem },
  end: { path: 'period.end', problem: timeProblem },
  hours: {
    path: 'period.seconds',
    problem: (typed) => (Number.isInteger(secondsOf(typed)) ? undefined : words.problems.hours),
  },
};

interface FormOfPeriod<Kind extends PeriodKind> {
  /** In the order of the form. */
  fields: readonly (keyof PeriodFields)[];
  /** The period of fields without problems. */
  read(fields: PeriodFields, zone: string): PeriodOf<Kind>;
  write(period: PeriodOf<Kind>, zone: string): Partial<PeriodFields>;
}

const plain = <Kind extends PeriodKind>(period: PeriodOf<Kind>): FormOfPeriod<Kind> => ({
  fields: [],
  read: () => period,
  write: () => ({}),
});

const fiscal = <Kind extends 'quarter' | 'year'>(kind: Kind): FormOfPeriod<Kind> => ({
  fields: ['startMonth', 'startDay'],
  read({ startMonth, startDay }) {
    return { kind, start_month: Number(startMonth), start_day: Number(startDay) } as PeriodOf<Kind>;
  },
  write: ({ start_month, start_day }) => ({ startMonth: String(start_month), startDay: String(start_day) }),
});

const FORMS: { [Kind in PeriodKind]: FormOfPeriod<Kind> } = {
  hour: plain({ kind: 'hour' }),
  day: plain({ kind: 'day' }),
  week: plain({ kind: 'week' }),
  month: {
    fields: ['startDay'],
    read: ({ startDay }) => ({ kind: 'month', start_day: Number(startDay) }),
    write: ({ start_day }) => ({ startDay: String(start_day) }),
  },
  quarter: fiscal('quarter'),
  year: fiscal('year'),
  once: {
    fields: ['start', 'end'],
    read: ({ start, end }, zone) => ({
      kind: 'once',
      start: instantOf(start, zone) ?? '',
      end: instantOf(end, zone) ?? '',
    }),
    write: ({ start, end }, zone) => ({ start: localOf(start, zone), end: localOf(end, zone) }),
  },
  rolling: {
    fields: ['hours'],
    read: ({ hours }) => ({ kind: 'rolling', seconds: secondsOf(hours) }),
    write: ({ seconds }) => ({ hours: String(seconds / HOUR_SECONDS) }),
  },
};

/** In the order of the form. */
export const PERIOD_KINDS = Object.keys(FORMS) as PeriodKind[];

export function periodForm(kind: PeriodKind): FormOfPeriod<PeriodKind> {
  return FORMS[kind] as FormOfPeriod<PeriodKind>;
}

export function periodFieldsOf(period: Api.Budget['period'], zone: string): PeriodFields {
  return { ...EMPTY_PERIOD, ...periodForm(period.kind).write(period, zone) };
}

function secondsOf(hours: string): number {
  return hours.trim() === '' ? Number.NaN : Number(hours) * HOUR_SECONDS;
}

function timeProblem(typed: string, zone: string): string | undefined {
  return instantOf(typed, zone) === null ? words.problems.time : undefined;
}

export function wholeProblem(typed: string): string | undefined {
  return /^\s*\d{1,9}\s*$/.test(typed) ? undefined : words.problems.whole;
}
