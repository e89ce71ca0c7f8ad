export { BUNDLED_TABLE_FILE, readBundledTable } from './bundled-table.ts';
export * from './price-book.ts';
export * from './price-table.ts';
export * from './tokens.ts';
