export * from './operator.price.fields.ts';
export { createOperatorPrices } from './operator.prices.ts';
export * from './overrides.ts';
export * from './workspace.prices.ts';
