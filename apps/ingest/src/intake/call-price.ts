import type { SenderCost } from '@tollkeeper/call-facts';
import { amountOf, type PriceSources, type TokenAmount } from '@tollkeeper/prices';
import type { CallRecord } from './call-record.ts';

/** What a call cost in USD micros, and who says so. `none`: it reports no cost, and no price of it is known. */
export type CallPrice = SenderPrice | TokenAmount | { pricedBy: 'none'; micros: 0 };

interface SenderPrice extends SenderCost {
  pricedBy: 'sender';
}

export interface PricedCall extends CallRecord {
  price: CallPrice;
}

/** Prices, and whether they count before the costs that senders report. */
interface CallPriceSources extends PriceSources {
  priceAnew: boolean;
}

/** Whether its amount depends on prices: the sender reports no cost, or its costs do not count. */
export function needsPrice({ cost, tokens }: CallRecord, { priceAnew }: Pick<CallPriceSources, 'priceAnew'>): boolean {
  return (cost === undefined || priceAnew) && tokens !== undefined;
}

/** The cost that the sender reports counts before the price of the tokens, unless calls are to be priced anew. */
export function withPrice(call: CallRecord, sources: CallPriceSources): PricedCall {
  return { ...call, price: priceOf(call, sources) };
}

/** Whether the call has tokens, and nobody knows what they cost. */
export function isUnpriced({ outcome, price }: PricedCall): boolean {
  return outcome === 'spent' && price.pricedBy === 'none';
}

function priceOf({ cost, tokens, ...call }: CallRecord, sources: CallPriceSources): CallPrice {
  // Without tokens, there is nothing to price.
  if (cost !== undefined && !(sources.priceAnew && tokens !== undefined)) return { pricedBy: 'sender', ...cost };
  const amount = tokens && amountOf({ ...call, tokens }, sources);
  return amount ?? { pricedBy: 'none', micros: 0 };
}
