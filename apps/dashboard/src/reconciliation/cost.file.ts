import { AppError } from '@tollkeeper/kernel';
import { CsvError, parse } from 'csv-parse/sync';
import { addUsd, parseUsd, type Usd } from './usd.ts';

/** What a provider charges for a model on a UTC day. */
export interface CostRow {
  /** `YYYY-MM-DD`. */
  day: string;
  /** As the file names it; empty for costs without a model, such as searches. */
  model: string;
  usd: Usd;
}

export const COST_FORMATS = ['generic', 'openai', 'anthropic'] as const;
export type CostFormat = (typeof COST_FORMATS)[number];

export interface CostFile {
  format: CostFormat;
  /** Each day and model once. */
  rows: readonly CostRow[];
}

/** The columns of a format, and how to read them. A file has the first format whose columns it has. */
interface FormatColumns {
  day: string;
  model: string;
  amount: string;
  /** Must say USD in rows with an amount. */
  currency?: string;
  dayOf(text: string): string;
  modelOf(text: string): string;
}

const FORMATS: Record<CostFormat, FormatColumns> = {
  generic: { day: 'day', model: 'model', amount: 'amount_usd', dayOf: (text) => text, modelOf: (text) => text },
  /** The cost export of OpenAI's dashboard. A line item is a model and what was charged for, such as `input`. */
  openai: {
    ...{ day: 'start_time_iso', model: 'line_item', amount: 'amount_value', currency: 'amount_currency' },
    dayOf: (text) => text.slice(0, 'yyyy-mm-dd'.length),
    modelOf: (text) => (text.includes(',') ? text.slice(0, text.lastIndexOf(',')) : text).trim(),
  },
  /** The cost export of Anthropic's console, which shows `Claude Haiku 4.5` for `claude-haiku-4-5`. */
  anthropic: {
    ...{ day: 'usage_date_utc', model: 'model', amount: 'cost_usd' },
    dayOf: (text) => text,
    modelOf: (text) => text.trim().replaceAll(/[ .]/g, '-'),
  },
};

const MAX_ROWS = 100_000;
/** Days and models of a report. */
const MAX_CELLS = 20_000;
const MAX_DAYS = 400;
const DAY_MS = 86_400_000;
const DAY = /^\d{4}-\d{2}-\d{2}$/;

/**
 * Reads a provider's cost file. Rows of the same day and model add up, and rows without an amount are left out. Rejects
 * with `invalid_request`, which names the line and the way out.
 */
export function readCostFile(bytes: Buffer): CostFile {
  const [head = [], ...lines] = linesOf(bytes);
  const format = COST_FORMATS.find((each) => columnsOf(FORMATS[each]).every((column) => head.includes(column)));
  if (format === undefined) throw unknownColumns(head);
  const columns = FORMATS[format];
  const at = (line: readonly string[], column: string | undefined): string =>
    column === undefined ? '' : (line[head.indexOf(column)] ?? '').trim();
  const cells = new Map<string, CostRow>();
  for (const [index, line] of lines.entries()) {
    const amount = at(line, columns.amount);
    if (amount === '') continue;
    const number = index + 2;
    const day = columns.dayOf(at(line, columns.day));
    if (!isDay(day)) throw invalid(`line ${number}: ${columns.day} must be a day, such as 2026-10-31`);
    const currency = at(line, columns.currency).toLowerCase();
    if (currency !== '' && currency !== 'usd') throw invalid(`line ${number}: ${columns.currency} must be usd`);
    const usd = parseUsd(amount);
    if (usd === null) throw invalid(`line ${number}: ${columns.amount} must be a number of US dollars, such as 12.50`);
    const model = columns.modelOf(at(line, columns.model)).toLowerCase();
    const key = `${day} ${model}`;
    const known = cells.get(key);
    cells.set(key, { day, model, usd: known === undefined ? usd : addUsd(known.usd, usd) });
    if (cells.size > MAX_CELLS) throw invalid(`must have at most ${MAX_CELLS} days and models. Export a shorter time`);
  }
  if (cells.size === 0) throw invalid('must have at least one row with an amount');
  const rows = [...cells.values()];
  const days = rows.map(({ day }) => Date.parse(day)).sort((a, b) => a - b);
  if (days.at(-1)! - days[0]! >= MAX_DAYS * DAY_MS) throw invalid(`must span at most ${MAX_DAYS} days`);
  return { format, rows };
}

function linesOf(bytes: Buffer): string[][] {
  try {
    return parse(bytes, { bom: true, skipEmptyLines: true, relaxColumnCount: true, to: MAX_ROWS + 1 });
  } catch (error) {
    if (error instanceof CsvError) throw invalid(`is no CSV: ${error.message}`);
    throw error;
  }
}

function columnsOf({ day, model, amount }: FormatColumns): string[] {
  return [day, model, amount];
}

function isDay(text: string): boolean {
  return DAY.test(text) && !Number.isNaN(Date.parse(text)) && new Date(text).toISOString().startsWith(text);
}

function unknownColumns(head: readonly string[]): AppError {
  const known = COST_FORMATS.map((format) => `${format}: ${columnsOf(FORMATS[format]).join(', ')}`).join('; ');
  const has = head.slice(0, 20).join(', ').slice(0, 200);
  return invalid(`must have in its first line the columns of one of ${known}. It has ${has === '' ? 'none' : has}`);
}

function invalid(message: string): AppError {
  const details = [{ path: 'body', message }];
  return new AppError('invalid_request', `The file ${message}.`, { details });
}
