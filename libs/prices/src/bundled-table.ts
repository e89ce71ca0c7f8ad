import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { createPriceBook, type PriceBook } from './price-book.ts';
import { parsePriceTable, type PriceTable } from './price-table.ts';

/** Next to this file, and to the bundle of an app. */
export const BUNDLED_TABLE_FILE = join(import.meta.dirname, 'table.json.gz');

/** The prices of this release. */
export function readBundledTable(): PriceTable {
  return parsePriceTable(gunzipSync(readFileSync(BUNDLED_TABLE_FILE)).toString('utf8'));
}

let book: PriceBook | undefined;

/** The prices of this release as a book. It takes 150 ms and 7 MB, so a process makes it once, at the first call. */
export function bundledPrices(): PriceBook {
  book ??= createPriceBook(readBundledTable());
  return book;
}
