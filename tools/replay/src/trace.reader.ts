import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { pipeline } from 'node:stream';
import { parse } from 'csv-parse';

/** One call of the trace. */
export interface TraceRow {
  /** Line in the file; the header is line 1. */
  line: number;
  /** Epoch milliseconds. */
  time: number;
  contextTokens: number;
  generatedTokens: number;
}

/** A line that is not a call, and the reason. */
export interface BadRow {
  line: number;
  problem: string;
}

export interface TraceSummary {
  /** SHA-256 of the file's bytes, in hexadecimal. */
  sha256: string;
  /** Lines after the header that are not blank, good or bad. */
  rows: number;
  /** Epoch milliseconds of the first and the last call; null if no line is a call. */
  span: { start: number; end: number } | null;
}

/** The file is not a trace. */
export class TraceFormatError extends Error {
  override readonly name = 'TraceFormatError';
}

const COLUMNS = ['TIMESTAMP', 'ContextTokens', 'GeneratedTokens'];
const MAX_LINE_LENGTH = 4_096;
const TIMESTAMP = /^(\d{4}-\d{2}-\d{2})[ T](\d{2}:\d{2}:\d{2})(?:\.(\d{1,9}))?(Z|[+-]\d{2}:\d{2})?$/;
const TOKENS = /^\d{1,9}$/;

/**
 * The rows of a trace in the order of the file, one at a time, however large it is. Throws {@link TraceFormatError} if
 * the header is not that of a trace. A bad row is not an error, but is yielded as such.
 */
export async function* readTrace(path: string): AsyncGenerator<TraceRow | BadRow> {
  // The format has no quotes; with this setting, a stray one cannot swallow the lines after it.
  const parser = parse({
    quote: null,
    info: true,
    bom: true,
    trim: true,
    relax_column_count: true,
    skip_empty_lines: true,
    max_record_size: MAX_LINE_LENGTH,
  });
  // The parser passes failures of the file to the loop below.
  pipeline(createReadStream(path), parser, () => undefined);
  let header = true;
  try {
    for await (const { record, info } of parser as AsyncIterable<{ record: string[]; info: { lines: number } }>) {
      if (header) requireHeader(record);
      else yield toRow(record, info.lines);
      header = false;
    }
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'CSV_MAX_RECORD_SIZE') {
      throw new TraceFormatError(`a line is longer than ${MAX_LINE_LENGTH} characters; this is not a trace`);
    }
    throw error;
  }
  if (header) throw new TraceFormatError('the file is empty');
}

/** Reads the whole file once, for facts that are needed before the first row is posted. */
export async function summarizeTrace(path: string): Promise<TraceSummary> {
  const hash = createHash('sha256');
  for await (const bytes of createReadStream(path)) hash.update(bytes as Buffer);

  let rows = 0;
  let start = Infinity;
  let end = -Infinity;
  for await (const row of readTrace(path)) {
    rows += 1;
    if ('problem' in row) continue;
    start = Math.min(start, row.time);
    end = Math.max(end, row.time);
  }
  return { sha256: hash.digest('hex'), rows, span: start <= end ? { start, end } : null };
}

function requireHeader(record: string[]): void {
  if (record.join() === COLUMNS.join()) return;
  throw new TraceFormatError(`the first line must be ${COLUMNS.join()}, not ${record.join().slice(0, 80)}`);
}

function toRow(record: string[], line: number): TraceRow | BadRow {
  const [timestamp = '', contextTokens = '', generatedTokens = ''] = record;
  if (record.length !== COLUMNS.length) {
    return { line, problem: `has ${record.length} columns in place of ${COLUMNS.length}` };
  }
  const time = parseTime(timestamp);
  if (time === null) return { line, problem: `TIMESTAMP is not a time such as 2023-11-16 18:17:03.9799600` };
  for (const [name, text] of [
    ['ContextTokens', contextTokens],
    ['GeneratedTokens', generatedTokens],
  ] as const) {
    if (!TOKENS.test(text)) return { line, problem: `${name} is not a whole number from 0 to 999999999` };
  }
  return { line, time, contextTokens: Number(contextTokens), generatedTokens: Number(generatedTokens) };
}

/** Epoch milliseconds; further digits are truncated. A time without a zone is UTC. */
function parseTime(text: string): number | null {
  const [, date, clock, fraction = '', zone = 'Z'] = TIMESTAMP.exec(text) ?? [];
  const utc = Date.parse(`${date}T${clock}.${fraction.padEnd(3, '0').slice(0, 3)}Z`);
  // A day beyond the end of its month would silently become one of the next month.
  if (Number.isNaN(utc) || !new Date(utc).toISOString().startsWith(`${date}T${clock}`)) return null;
  const local = zone === 'Z' ? utc : Date.parse(new Date(utc).toISOString().replace('Z', zone));
  return Number.isNaN(local) ? null : local;
}
