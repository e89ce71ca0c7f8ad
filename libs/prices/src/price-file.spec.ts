import { describe, expect, it } from '@jest/globals';
import { LitellmFileError } from './litellm-prices.ts';
import { createPriceBook } from './price-book.ts';
import { parsePriceFile } from './price-file.ts';
import { formatPriceTable, type PriceRow, PriceTableError } from './price-table.ts';

const MODEL = { litellm_provider: 'house', input_cost_per_token: 2.5e-6, output_cost_per_token: 1e-5 };
const ROW: PriceRow = {
  ...{ id: 'house-1', provider: 'house', match: ['house-1'], micros_per_mtok: 5 },
  ...({ kind: 'input', tier: 'default' } as const),
  ...{ source: 'contract', valid_from: '2026-01-01' },
};

describe('a file of prices', () => {
  it('is a table as that of the release', () => {
    expect(parsePriceFile(formatPriceTable([ROW])).rows).toEqual([ROW]);
  });

  it("is LiteLLM's list, whose prices count at any time, also of names that no id may have", () => {
    const table = parsePriceFile(
      JSON.stringify({ 'house 1+': MODEL, 'HOUSE 1+': MODEL, free: { litellm_provider: 'x' } }),
    );
    expect(table.rows).toHaveLength(2);
    expect(table.version).toMatch(/^[0-9a-f]{16}$/);
    const price = createPriceBook(table).price({
      ...{ responseModel: 'House 1+', requestModel: undefined, provider: undefined, serviceTier: undefined, timeMs: 0 },
      tokens: { input: 1_000_000, cacheRead: 0, cacheWrite: 0, cacheWrite1h: 0, output: 1_000_000, reasoning: 0 },
    });
    expect(price).toEqual({ micros: 12_500_000, priceId: 'HOUSE-1-', priceVersion: table.version });
  });

  it.each([
    ['a table with an odd row', JSON.stringify({ rows: [{ ...ROW, kind: 'video' }] }), PriceTableError],
    ['a list of rows', JSON.stringify([ROW]), PriceTableError],
    ['another list of models', JSON.stringify({ m: 1 }), LitellmFileError],
    ['a price that is none', JSON.stringify({ m: { ...MODEL, input_cost_per_token: '1' } }), LitellmFileError],
    ['a price in another unit', JSON.stringify({ m: { ...MODEL, input_cost_per_token: 2.5 } }), PriceTableError],
    ['text', 'm: 1', SyntaxError],
    ['half a file', '{"rows":[', SyntaxError],
    ['null', 'null', LitellmFileError],
  ])('is refused as %s', (_what, text, error) => {
    expect(() => parsePriceFile(text)).toThrow(error);
  });
});
