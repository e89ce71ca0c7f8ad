import type { OverrideBook, PriceBook, PricedAmount } from '@tollkeeper/prices';
import type { CallRecord } from './call-record.ts';
import type { SenderCost } from './usd.ts';

/** What a call cost in USD micros, and who says so. `none`: it reports no cost, and no price of it is known. */
export type CallPrice = SenderPrice | OverridePrice | TablePrice | { pricedBy: 'none'; micros: 0 };

interface SenderPrice extends SenderCost {
  pricedBy: 'sender';
}

interface OverridePrice extends Omit<PricedAmount, 'priceVersion'> {
  pricedBy: 'override';
}

interface TablePrice extends PricedAmount {
  pricedBy: 'table';
}

export interface PricedCall extends CallRecord {
  price: CallPrice;
}

/** Where prices of tokens come from: those of the workspace count before all others. */
interface PriceSources {
  overrides: OverrideBook;
  prices: PriceBook;
  /** Whether prices count before the costs that senders report. */
  priceAnew: boolean;
}

/** Whether its amount depends on prices: the sender reports no cost, or its costs do not count. */
export function needsPrice({ cost, tokens }: CallRecord, { priceAnew }: Pick<PriceSources, 'priceAnew'>): boolean {
  return (cost === undefined || priceAnew) && tokens !== undefined;
}

/** The cost that the sender reports counts before the price of the tokens, unless calls are to be priced anew. */
export function withPrice(call: CallRecord, sources: PriceSources): PricedCall {
  return { ...call, price: priceOf(call, sources) };
}

/** Whether the call has tokens, and nobody knows what they cost. */
export function isUnpriced({ outcome, price }: PricedCall): boolean {
  return outcome === 'spent' && price.pricedBy === 'none';
}

function priceOf({ cost, tokens, ...call }: CallRecord, sources: PriceSources): CallPrice {
  const { overrides, prices, priceAnew } = sources;
  // Without tokens, there is nothing to price.
  if (cost !== undefined && !(priceAnew && tokens !== undefined)) return { pricedBy: 'sender', ...cost };
  if (tokens === undefined) return { pricedBy: 'none', micros: 0 };
  const override = overrides.price({ ...call, tokens });
  if (override !== undefined) return { pricedBy: 'override', ...override };
  const amount = prices.price({ ...call, tokens });
  return amount === undefined ? { pricedBy: 'none', micros: 0 } : { pricedBy: 'table', ...amount };
}
