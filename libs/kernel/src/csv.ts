export type Cell = string | number | boolean | null | undefined;

/** Characters with which a cell begins that spreadsheets calculate, also in the full width of CJK. */
const FORMULA = /^\s*[=+\-@＝＋－＠]|^[\t\r\n]/;
const QUOTED = /[",\r\n]/;
/** An amount, also a negative one, which is no formula. */
const NUMBER = /^-?\d+(?:\.\d+)?$/;

/** A line of a file according to RFC 4180. A text that a spreadsheet would calculate begins with an apostrophe. */
export function toCsvLine(cells: readonly Cell[]): string {
  let line = '';
  for (let index = 0; index < cells.length; index += 1)
    line += index === 0 ? toCell(cells[0]) : `,${toCell(cells[index])}`;
  return `${line}\r\n`;
}

function toCell(cell: Cell): string {
  if (cell === null || cell === undefined) return '';
  if (typeof cell !== 'string') return String(cell);
  const text = FORMULA.test(cell) && !NUMBER.test(cell) ? `'${cell}` : cell;
  return QUOTED.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}

/** USD micros as dollars with six decimals, which is exact. */
export function toUsd(micros: number): string {
  const digits = String(Math.abs(micros)).padStart(7, '0');
  return `${micros < 0 ? '-' : ''}${digits.slice(0, -6)}.${digits.slice(-6)}`;
}
