import type { PriceBook, PricedAmount } from '@tollkeeper/prices';
import type { CallRecord } from './call-record.ts';
import type { SenderCost } from './usd.ts';

/** What a call cost in USD micros, and who says so. `none`: it reports no cost, and no price of it is known. */
export type CallPrice = SenderPrice | TablePrice | { pricedBy: 'none'; micros: 0 };

interface SenderPrice extends SenderCost {
  pricedBy: 'sender';
}

interface TablePrice extends PricedAmount {
  pricedBy: 'table';
}

export interface PricedCall extends CallRecord {
  price: CallPrice;
}

/** The cost that the sender reports counts before the price of the tokens. */
export function withPrice(call: CallRecord, prices: PriceBook): PricedCall {
  return { ...call, price: priceOf(call, prices) };
}

/** Whether the call has tokens, and nobody knows what they cost. */
export function isUnpriced({ outcome, price }: PricedCall): boolean {
  return outcome === 'spent' && price.pricedBy === 'none';
}

function priceOf({ cost, tokens, ...call }: CallRecord, prices: PriceBook): CallPrice {
  if (cost !== undefined) return { pricedBy: 'sender', ...cost };
  const amount = tokens && prices.price({ ...call, tokens });
  return amount === undefined ? { pricedBy: 'none', micros: 0 } : { pricedBy: 'table', ...amount };
}
