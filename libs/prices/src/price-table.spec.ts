import { describe, expect, it } from '@jest/globals';
import { formatPriceTable, parsePriceTable, type PriceRow, PriceTableError } from './price-table.ts';

const ROW = {
  id: 'gpt-4o',
  provider: 'openai',
  match: ['gpt-4o'],
  kind: 'input',
  tier: 'default',
  micros_per_mtok: 2_500_000,
  source: 'litellm',
} as const satisfies PriceRow;

const textOf = (...rows: readonly object[]) => JSON.stringify({ rows });

function refusalOf(text: string): string {
  try {
    parsePriceTable(text);
  } catch (error) {
    if (error instanceof PriceTableError) return error.message;
    throw error;
  }
  return 'accepted';
}

describe('a table of prices', () => {
  it('is read as it was written', () => {
    const rows = [ROW, { ...ROW, kind: 'output', above_tokens: 200_000, valid_from: '2026-01-01' } as const];
    expect(parsePriceTable(formatPriceTable(rows)).rows).toEqual(rows);
    expect(formatPriceTable(rows).split('\n')).toHaveLength(5);
  });

  it('has another version if anything in it differs', () => {
    const versionOf = (...rows: PriceRow[]) => parsePriceTable(formatPriceTable(rows)).version;
    expect(versionOf(ROW)).toBe(versionOf({ ...ROW }));
    const versions = [
      versionOf(ROW),
      versionOf({ ...ROW, micros_per_mtok: 2_500_001 }),
      versionOf({ ...ROW, source: 'x' }),
    ];
    expect(new Set(versions).size).toBe(3);
    expect(versions[0]).toMatch(/^[0-9a-f]{16}$/);
  });

  it.each([
    ['an unknown field', { batch: 1 }, 'Row 2 (gpt-4o): Unrecognized key: "batch"'],
    ['a fraction of a micro', { micros_per_mtok: 0.5 }, 'Row 2 (gpt-4o): micros_per_mtok: '],
    ['a negative price', { micros_per_mtok: -1 }, 'Row 2 (gpt-4o): micros_per_mtok: '],
    ['a price in text', { micros_per_mtok: '1' }, 'Row 2 (gpt-4o): micros_per_mtok: '],
    ['a price in another unit', { micros_per_mtok: 2_500_000 * 10_000 }, 'Row 2 (gpt-4o): micros_per_mtok: '],
    ['an unknown kind', { kind: 'video' }, 'Row 2 (gpt-4o): kind: '],
    ['an unknown tier', { tier: 'ultrafast' }, 'Row 2 (gpt-4o): tier: '],
    ['a threshold of 0', { above_tokens: 0 }, 'Row 2 (gpt-4o): above_tokens: '],
    ['a day that does not exist', { valid_from: '2026-02-30' }, 'Row 2 (gpt-4o): valid_from: '],
    ['a time of day', { valid_to: '2026-02-03T00:00:00Z' }, 'Row 2 (gpt-4o): valid_to: '],
    ['no name', { match: [] }, 'Row 2 (gpt-4o): match: '],
    ['an empty name', { match: ['gpt-4o', ''] }, 'Row 2 (gpt-4o): match.1: '],
    ['no id', { id: undefined }, 'Row 2: id: '],
    ['an id that no event may have', { id: 'gpt 4o' }, 'Row 2 (gpt 4o): id: must be 1 to 128 characters'],
    [
      'an end before its begin',
      { valid_from: '2026-02-03', valid_to: '2026-02-03' },
      'Row 2 (gpt-4o): valid_to: must be after valid_from, 2026-02-03',
    ],
  ])('with %s is refused by row and field', (_what, odd, message) => {
    const other = { ...ROW, kind: 'output' };
    expect(refusalOf(textOf(other, { ...ROW, ...odd }))).toContain(message);
    expect(refusalOf(textOf(other, ROW))).toBe('accepted');
  });

  it.each([
    ['from the beginning', {}, {}],
    ['from the same day', { valid_from: '2026-01-01' }, { valid_from: '2026-01-01' }],
    ['while another has no end', { valid_from: '2026-01-01' }, { valid_from: '2026-02-01' }],
    ['before another ends', { valid_to: '2026-02-02' }, { valid_from: '2026-02-01' }],
    ['with a name in another case', {}, { match: ['x', 'GPT-4o'] }],
  ])('with two prices for the same tokens %s is refused', (_when, one, other) => {
    const message = 'has a price for the same tokens then';
    expect(refusalOf(textOf({ ...ROW, ...one }, { ...ROW, ...other }))).toBe(
      `Row 2 (gpt-4o): valid_from: Row 1 (gpt-4o) ${message}`,
    );
    expect(refusalOf(textOf({ ...ROW, ...other }, { ...ROW, ...one }))).toContain(message);
  });

  it.each([
    ['one after the other', { valid_to: '2026-02-01' }, { valid_from: '2026-02-01' }],
    ['for other kinds', {}, { kind: 'output' }],
    ['at other tiers', {}, { tier: 'batch' }],
    ['for more tokens', {}, { above_tokens: 1 }],
    ['under other names', {}, { match: ['gpt-4'] }],
  ])('may have prices %s', (_how, one, other) => {
    expect(refusalOf(textOf({ ...ROW, ...one }, { ...ROW, ...other }))).toBe('accepted');
  });

  it.each(['', '[]', 'null', '{}', '{"rows":{}}', '{"rows":[],"more":1}'])('is refused as %p', (text) => {
    expect(refusalOf(text)).toMatch(/^The table (is not JSON|must be an object with a list of rows): /);
  });

  it('is refused for a row that is no object', () => {
    expect(refusalOf('{"rows":[1]}')).toMatch(/^Row 1: /);
    expect(refusalOf('{"rows":[null]}')).toMatch(/^Row 1: /);
  });
});
