import { Readable } from 'node:stream';
import { AppError, MAX_MICROS, startSlices } from '@tollkeeper/kernel';
import { CsvError, parse } from 'csv-parse';
import { addUsd, parseUsd, toMicros, type Usd } from './usd.ts';

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
/** What is parsed at once. */
const CHUNK_BYTES = 32 * 1024;

/**
 * Reads a provider's cost file, in slices. Rows of the same day and model add up, and rows without an amount are left
 * out. Rejects with `invalid_request`, which names the line and the way out.
 */
export async function readCostFile(bytes: Buffer): Promise<CostFile> {
  const cells = new Map<string, CostRow>();
  const slices = startSlices();
  let reader: RowReader | undefined;
  let [size, rows] = [0n, 0];
  for await (const { line, fields } of linesOf(bytes)) {
    if (slices.usedUp()) await slices.next();
    if (reader === undefined) {
      reader = readerOf(fields.map((name) => name.trim()));
      continue;
    }
    rows += 1;
    if (rows > MAX_ROWS) throw invalid(`must have at most ${MAX_ROWS} rows. Export a shorter time`);
    const row = reader.read(fields, line);
    if (row === undefined) continue;
    size += row.usd < 0n ? -row.usd : row.usd;
    // So that every sum of them can be shown.
    if (toMicros(size) > MAX_MICROS) throw invalid(`line ${line}: ${reader.amount} makes the total too large`);
    const key = `${row.day} ${row.model}`;
    const known = cells.get(key);
    cells.set(key, known === undefined ? row : { ...row, usd: addUsd(known.usd, row.usd) });
    if (cells.size > MAX_CELLS) throw invalid(`must have at most ${MAX_CELLS} days and models. Export a shorter time`);
  }
  if (reader === undefined) throw unknownColumns([]);
  if (cells.size === 0) throw invalid('must have at least one row with an amount');
  const read = [...cells.values()];
  const days = read.map(({ day }) => Date.parse(day)).sort((a, b) => a - b);
  if (days.at(-1)! - days[0]! >= MAX_DAYS * DAY_MS) throw invalid(`must span at most ${MAX_DAYS} days`);
  return { format: reader.format, rows: read };
}

interface RowReader {
  format: CostFormat;
  /** The name of the column of amounts. */
  amount: string;
  /** Undefined for a row without an amount. Throws `invalid_request`. */
  read(fields: readonly string[], line: number): CostRow | undefined;
}

function readerOf(head: readonly string[]): RowReader {
  const format = COST_FORMATS.find((each) => columnsOf(FORMATS[each]).every((column) => head.includes(column)));
  if (format === undefined) throw unknownColumns(head);
  const columns = FORMATS[format];
  const reads = (column: string | undefined) => {
    const index = column === undefined ? -1 : head.indexOf(column);
    return (fields: readonly string[]): string => (fields[index] ?? '').trim();
  };
  const [amountOf, dayOf, currencyOf, modelOf] = [
    reads(columns.amount),
    reads(columns.day),
    reads(columns.currency),
    reads(columns.model),
  ];
  return {
    format,
    amount: columns.amount,
    read(fields, line) {
      const amount = amountOf(fields);
      if (amount === '') return undefined;
      const day = columns.dayOf(dayOf(fields));
      if (!isDay(day)) throw invalid(`line ${line}: ${columns.day} must be a day, such as 2026-10-31`);
      const currency = currencyOf(fields).toLowerCase();
      if (currency !== '' && currency !== 'usd') throw invalid(`line ${line}: ${columns.currency} must be usd`);
      const usd = parseUsd(amount);
      if (usd === null) throw invalid(`line ${line}: ${columns.amount} must be a number of US dollars, such as 12.50`);
      return { day, model: columns.modelOf(modelOf(fields)).toLowerCase(), usd };
    },
  };
}

async function* linesOf(bytes: Buffer): AsyncGenerator<{ line: number; fields: string[] }> {
  const parser = Readable.from(chunksOf(bytes)).pipe(
    parse({ bom: true, skipEmptyLines: true, relaxColumnCount: true, info: true }),
  );
  try {
    for await (const { record, info } of parser as AsyncIterable<{ record: string[]; info: { lines: number } }>) {
      yield { line: info.lines, fields: record };
    }
  } catch (error) {
    if (error instanceof CsvError) throw invalid(`is no CSV: ${error.message}`);
    throw error;
  }
}

function* chunksOf(bytes: Buffer): Generator<Buffer> {
  for (let at = 0; at < bytes.length; at += CHUNK_BYTES) yield bytes.subarray(at, at + CHUNK_BYTES);
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
