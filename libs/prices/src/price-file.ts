import { readLitellmPrices } from './litellm-prices.ts';
import { formatPriceTable, parsePriceTable, type PriceRow, type PriceTable } from './price-table.ts';

const NO_ID = /[^A-Za-z0-9._:@/-]/g;

/**
 * The prices in a file of the operator: a table as that of the release, or LiteLLM's list, whose prices count for calls
 * of any time. Throws `PriceTableError` or `LitellmFileError`, whose message names the place, or `SyntaxError`.
 */
export function parsePriceFile(text: string): PriceTable {
  const file: unknown = JSON.parse(text);
  if (Array.isArray(file) || (typeof file === 'object' && file !== null && 'rows' in file))
    return parsePriceTable(text);
  // LiteLLM may list a model twice, with names that differ in case.
  const byName = new Map(readLitellmPrices(text).map((model) => [model.id.toLowerCase(), model]));
  const rows = [...byName].flatMap(([name, { id, provider, prices }]) =>
    prices.map((price): PriceRow => ({
      id: id.replace(NO_ID, '-'),
      provider,
      match: [name],
      ...price,
      source: 'file',
    })),
  );
  return parsePriceTable(formatPriceTable(rows));
}
