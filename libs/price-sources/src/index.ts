export * from './overrides.ts';
export * from './price.file.fields.ts';
export * from './price.file.ts';
export * from './workspace.prices.ts';
