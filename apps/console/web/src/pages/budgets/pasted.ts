import { parseMoney } from '../../format/money.ts';
import { text } from '../../text/index.ts';

const words = text.budgets.sheet;

/**
 * The amounts of a pasted column for so many rows, in micros; null for an empty line, which changes nothing. A single
 * amount is for every row.
 */
export function readPasted(
  pasted: string,
  rows: number,
): { amounts: readonly (number | null)[]; problem?: undefined } | { amounts?: undefined; problem: string } {
  // Spreadsheets end the last line as well, and separate further columns by tabs.
  const lines = pasted.replace(/\r?\n$/, '').split(/\r?\n/);
  const amounts: (number | null)[] = [];
  for (const [index, line] of lines.entries()) {
    const [typed = ''] = line.trim().split('\t');
    const amount = typed === '' ? null : parseMoney(typed);
    if (amount === null && typed !== '') return { problem: words.pasteBad(index + 1, typed) };
    amounts.push(amount);
  }
  const [first = null] = amounts;
  if (amounts.length === 1 && first !== null) return { amounts: Array.from({ length: rows }, () => first) };
  return amounts.length === rows ? { amounts } : { problem: words.pasteCount(amounts.length, rows) };
}
