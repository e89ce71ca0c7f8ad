import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { reportOf, Failure, textOf } from './failure.ts';
import { type Column, dollars, paint, table, timeIn } from './output.ts';

it('a table is aligned, and text of others can neither start a line nor reach the terminal', () => {
  const rows = [
    { name: 'Night shift', spent: '$1.50' },
    { name: 'a\nb\u001b[31m', spent: '$1,234.00' },
  ];
  const columns: Column<(typeof rows)[number]>[] = [
    { title: 'NAME', cell: ({ name }) => name },
    { title: 'SPENT', cell: ({ spent }) => spent, right: true },
  ];
  expect(table(rows, columns, 'None')).toBe(
    ['NAME             SPENT', 'Night shift      $1.50', 'a b [31m     $1,234.00'].join('\n'),
  );
  expect(table([], columns, 'None')).toBe('None');
});

it('a failure is shown in its lines, without what a terminal would act on', () => {
  const failure = new Failure('rules "a\u001b[31m" failed.\n  b');
  expect(textOf(reportOf(failure))).toBe('Error: rules "a [31m" failed.\n  b');
});

it('amounts have two decimals, and small ones as many as they need', () => {
  expect([1_234_567_891, 1_000_000, 125, 0].map(dollars)).toEqual(['$1,234.57', '$1.00', '$0.000125', '$0.00']);
});

it('times are those of the zone', () => {
  expect(timeIn('Asia/Tokyo')('2026-11-30T15:04:05.000Z')).toBe('2026-12-01 00:04:05');
});

describe('colours', () => {
  const { isTTY } = process.stdout;
  const { NO_COLOR } = process.env;
  beforeEach(() => void delete process.env['NO_COLOR']);
  afterEach(() => {
    process.stdout.isTTY = isTTY;
    if (NO_COLOR !== undefined) process.env['NO_COLOR'] = NO_COLOR;
  });

  it('are only for terminals, and not with NO_COLOR', () => {
    process.stdout.isTTY = true;
    expect(paint('red', 'x')).toBe('\u001b[31mx\u001b[39m');
    process.env['NO_COLOR'] = '1';
    expect(paint('red', 'x')).toBe('x');
    delete process.env['NO_COLOR'];
    process.stdout.isTTY = false;
    expect(paint('red', 'x')).toBe('x');
  });
});
