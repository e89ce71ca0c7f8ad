import type { PriceBook, PricedAmount } from '@tollkeeper/prices';
import type { CallRecord } from './call-record.ts';

/** What a call cost in USD micros, and who says so. `none`: it reports no cost, and nobody knows its price. */
export type CallPrice = { pricedBy: 'sender'; micros: number } | TablePrice | { pricedBy: 'none' };

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

function priceOf({ cost, tokens, ...call }: CallRecord, prices: PriceBook): CallPrice {
  if (cost !== undefined) return { pricedBy: 'sender', micros: cost.micros };
  const amount = tokens && prices.price({ ...call, tokens });
  return amount === undefined ? { pricedBy: 'none' } : { pricedBy: 'table', ...amount };
}
