import { micros, planKey, timestamp } from '@tollkeeper/contracts';
import { toLocal } from '@tollkeeper/kernel';
import { z } from 'zod';
import type { DayRow } from '../domain/exports.ts';
import type { DashboardEvent } from '../domain/event.ts';
import { OTHER } from '../domain/names.ts';
import { toName, toSum, toTimestamp, toTokenParts, toTokens } from './bodies.ts';
import { type Cell, toCsvLine, toUsd } from '@tollkeeper/kernel/csv';
import { callFields, settlementSchema, tokenSums } from './schemas.ts';

/** How the rows of an export are written. */
export interface Lines<Row> {
  /** The first line, if the format has one. */
  head: string;
  line: (row: Row) => string;
}

/** The keys of groups, besides the spend of the whole workspace. */
const KEY_FIELDS = ['key', 'display_name', 'other'] as const;

export const dayRowSchema = z
  .object({
    date: z.iso.date().meta({ description: 'The local day' }),
    start: timestamp,
    end: timestamp.meta({ description: 'Exclusive. The first and the last day end with the window' }),
    key: z.string().nullable().optional().meta({
      description: 'With `group_by`: the group, as in `/spend/breakdown`. Null for spend that belongs to none',
    }),
    display_name: z.string().optional().meta({ description: 'Of agents' }),
    other: z.literal(true).optional().meta({ description: 'All groups together that are not kept apart' }),
    total_micros: micros,
    ...tokenSums,
    unique_settlements: z.int().min(0),
    unpriced_calls: z.int().min(0).meta({ description: 'Calls of which nobody knows the price; they count as 0' }),
  })
  .meta({ id: 'ExportedDay', description: 'The spend of a local day' });

/** `names` are the display names of agents. */
export function toDay(
  { day, key, tally }: DayRow,
  timezone: string,
  names: ReadonlyMap<string, string>,
): z.input<typeof dayRowSchema> {
  const name = key === undefined || key === null || key === OTHER ? undefined : names.get(key);
  return {
    date: toLocal(day.start, timezone).toPlainDate().toString(),
    ...{ start: toTimestamp(day.start), end: toTimestamp(day.end) },
    ...(key !== undefined && toName('key', key)),
    ...(name !== undefined && { display_name: name }),
    total_micros: toSum(tally.totalMicros),
    unique_settlements: tally.settlements,
    ...toTokens(tally),
    ...toTokenParts(tally),
    unpriced_calls: tally.unpriced,
  };
}
export type Day = ReturnType<typeof toDay>;

const DAY_FIELDS = ['date', 'start', 'end'] as const;
const SUM_FIELDS = [
  ...(['total_micros', 'unique_settlements', 'input_tokens', 'output_tokens', 'cache_read_tokens'] as const),
  ...(['cache_write_tokens', 'cache_write_1h_tokens', 'reasoning_tokens', 'unpriced_calls'] as const),
] as const;

export function csvOfDays(isDivided: boolean): Lines<Day> {
  const first = [...DAY_FIELDS, ...(isDivided ? KEY_FIELDS : [])];
  return {
    head: toCsvLine([...first, 'total_usd', ...SUM_FIELDS]),
    line: (day) =>
      toCsvLine([
        ...first.map((field) => day[field]),
        toUsd(day.total_micros),
        ...SUM_FIELDS.map((field) => day[field]),
      ]),
  };
}

/** The fields of a call that are columns, besides its time and labels, in this order. */
const CALL_FIELDS = [
  ...(['settlement_id', 'run_id', 'agent_id', 'plan_key', 'provider', 'model', 'key_id', 'amount_micros'] as const),
  ...(['input_tokens', 'output_tokens', 'cache_read_tokens', 'cache_write_tokens', 'cache_write_1h_tokens'] as const),
  ...(['reasoning_tokens', 'priced_by', 'price_id', 'price_version', 'service_tier'] as const),
  ...(['request_model', 'response_model', 'reservation_id'] as const),
] as const;

export const callRowSchema = settlementSchema
  .omit({ event_id: true })
  .extend({ ...callFields, plan_key: planKey.optional() })
  .meta({ id: 'ExportedCall', description: 'A settled call, with its last correction' });

export const CSV_OF_CALLS: Lines<DashboardEvent> = {
  head: toCsvLine(['occurred_at', 'amount_usd', ...CALL_FIELDS, 'labels']),
  line({ time, data }) {
    const cells: Cell[] = [toTimestamp(time), toUsd(data.amount_micros ?? 0)];
    for (const field of CALL_FIELDS) cells.push(field === 'reservation_id' ? reservationOf(data) : data[field]);
    cells.push(data.labels === undefined ? null : JSON.stringify(data.labels));
    return toCsvLine(cells);
  },
};

export const JSON_OF_CALLS: Lines<DashboardEvent> = {
  head: '',
  line({ time, data }) {
    const call: Record<string, unknown> = { occurred_at: toTimestamp(time) };
    for (const field of CALL_FIELDS) call[field] = field === 'reservation_id' ? reservationOf(data) : data[field];
    call['labels'] = data.labels;
    return toJsonLine(call);
  },
};

function reservationOf({ reservation_id, lease_id }: DashboardEvent['data']): string | undefined {
  return reservation_id ?? lease_id;
}

export function toJsonLine(row: object): string {
  return `${JSON.stringify(row)}\n`;
}
