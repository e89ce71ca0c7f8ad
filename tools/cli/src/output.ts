import { styleText } from 'node:util';

type Style = Parameters<typeof styleText>[0];

const DOLLARS = new Intl.NumberFormat('en-US', { style: 'currency', currency: 'USD' });
const SMALL = new Intl.NumberFormat('en-US', { style: 'currency', currency: 'USD', maximumFractionDigits: 6 });
const COUNT = new Intl.NumberFormat('en-US');

/** Characters that a terminal would act on. */
const CONTROL = /\p{Cc}/gu;

/** `$1,234.50`; amounts below a dollar with up to six decimals. */
export function dollars(micros: number | null | undefined): string {
  if (micros === null || micros === undefined) return '–';
  return (Math.abs(micros) < 1_000_000 ? SMALL : DOLLARS).format(micros / 1_000_000);
}

export const count = (value: number) => COUNT.format(value);

/** `2026-11-30 14:05:09` in the time zone. */
export function timeIn(zone: string): (time: string | null | undefined) => string {
  const options = { dateStyle: 'short', timeStyle: 'medium', timeZone: zone } as const;
  const format = new Intl.DateTimeFormat('sv-SE', options);
  return (time) => (time === null || time === undefined ? '–' : format.format(new Date(time)));
}

/** Colours only on a terminal, and not with `NO_COLOR` (https://no-color.org). */
export function paint(style: Style, text: string): string {
  const wanted = process.stdout.isTTY === true && !process.env['NO_COLOR'];
  return wanted ? styleText(style, text, { validateStream: false }) : text;
}

export interface Column<Row> {
  title: string;
  cell: (row: Row) => string;
  /** Numbers are aligned to the right. */
  right?: boolean;
  style?: (row: Row) => Style | null;
}

const MAX_CELL = 60;

/** Lines of a table, or the text for none. */
export function table<Row>(rows: readonly Row[], columns: readonly Column<Row>[], none: string): string {
  if (rows.length === 0) return none;
  const cells = rows.map((row) => columns.map(({ cell }) => shorten(cell(row))));
  const widths = columns.map(({ title }, at) => Math.max(title.length, ...cells.map((line) => line[at]!.length)));
  const pad = (text: string, at: number) => {
    if (columns[at]?.right === true) return text.padStart(widths[at]!);
    return at === columns.length - 1 ? text : text.padEnd(widths[at]!);
  };
  const head = columns.map(({ title }, at) => paint('bold', pad(title, at))).join('  ');
  const lines = cells.map((line, index) =>
    line
      .map((text, at) => {
        const style = columns[at]?.style?.(rows[index]!) ?? null;
        return style === null ? pad(text, at) : paint(style, pad(text, at));
      })
      .join('  '),
  );
  return [head, ...lines].join('\n');
}

function shorten(text: string): string {
  const line = clean(text);
  return line.length > MAX_CELL ? `${line.slice(0, MAX_CELL - 1)}…` : line;
}

/** Text of others on one line, so that it can neither move the cursor nor fake a line. */
export function clean(text: string): string {
  return text.replace(CONTROL, ' ');
}

/** The same for text of several lines. */
export function cleanLines(text: string): string {
  return text.split('\n').map(clean).join('\n');
}

/** A person by their e-mail; a service account, which has none, by its name. */
export function nameOf({ name, email }: { name: string; email: string }): string {
  return clean(email === '' ? name : email);
}

export function print(text: string): void {
  process.stdout.write(`${text}\n`);
}

export function printJson(value: unknown): void {
  print(JSON.stringify(value, null, 2));
}

/** For people beside the output that programs read. */
export function note(text: string): void {
  process.stderr.write(`${text}\n`);
}
