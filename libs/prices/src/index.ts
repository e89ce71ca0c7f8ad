export { BUNDLED_TABLE_FILE, readBundledTable } from './bundled-table.ts';
export { REPORTED_KINDS, type ReportedKind } from './call-amount.ts';
export * from './litellm-prices.ts';
export { overrideName } from './model-names.ts';
export * from './override-book.ts';
export * from './price-book.ts';
export { parsePriceFile } from './price-file.ts';
export * from './price-table.ts';
export * from './tokens.ts';
