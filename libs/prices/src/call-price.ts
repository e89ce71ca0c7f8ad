import type { OverrideBook } from './override-book.ts';
import type { CallToPrice, PriceBook, PricedAmount } from './price-book.ts';

/** Where prices of tokens come from: those of the workspace count before all others. */
export interface PriceSources {
  overrides: OverrideBook;
  prices: PriceBook;
}

interface OverridePrice extends Omit<PricedAmount, 'priceVersion'> {
  pricedBy: 'override';
}

interface TablePrice extends PricedAmount {
  pricedBy: 'table';
}

/** What the tokens of a call cost, and by which price. */
export type TokenAmount = OverridePrice | TablePrice;

/** Undefined if no price of the call is known. */
export function amountOf(call: CallToPrice, { overrides, prices }: PriceSources): TokenAmount | undefined {
  const override = overrides.price(call);
  if (override !== undefined) return { pricedBy: 'override', ...override };
  const amount = prices.price(call);
  return amount && { pricedBy: 'table', ...amount };
}
