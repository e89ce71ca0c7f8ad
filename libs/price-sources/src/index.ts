export * from './installation.prices.ts';
export * from './operator.price.fields.ts';
export * from './overrides.ts';
export * from './workspace.prices.ts';
