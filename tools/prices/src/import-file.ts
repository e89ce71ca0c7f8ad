import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { gunzipSync, gzipSync } from 'node:zlib';
import { formatPriceTable, parsePriceTable, readLitellmPrices } from '@tollkeeper/prices';
import { type TableUpdate, updateTable } from './table-update.ts';

export interface ImportOptions {
  /** LiteLLM's `model_prices_and_context_window.json`. */
  litellmFile: string;
  /** Made if it does not exist. */
  tableFile: string;
  /** The day of the import, UTC: `2026-11-29`. */
  date: string;
}

/** Brings the table up to date. Writes nothing if no price differs, and nothing that the product would refuse. */
export function importFile({ litellmFile, tableFile, date }: ImportOptions): TableUpdate & { version: string } {
  const text = existsSync(tableFile) ? gunzipSync(readFileSync(tableFile)).toString('utf8') : formatPriceTable([]);
  const before = parsePriceTable(text);
  const models = readLitellmPrices(readFileSync(litellmFile, 'utf8'));
  const update = updateTable(before.rows, { name: 'litellm', models }, date);
  if (update.opened + update.closed === 0) return { ...update, version: before.version };
  const updated = formatPriceTable(update.rows);
  const { version } = parsePriceTable(updated);
  writeFileSync(tableFile, gzipSync(updated, { level: 9 }));
  return { ...update, version };
}
