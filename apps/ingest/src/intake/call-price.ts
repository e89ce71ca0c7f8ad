import { amountOf, type PriceSources, type TokenAmount } from '@tollkeeper/prices';
import type { CallRecord } from './call-record.ts';
import type { SenderCost } from './usd.ts';

/** What a call cost in USD micros, and who says so. `none`: it reports no cost, and no price of it is known. */
export type CallPrice = SenderPrice | TokenAmount | { pricedBy: 'none'; micros: 0 };

interface SenderPrice extends SenderCost {
  pricedBy: 'sender';
}

export interface PricedCall extends CallRecord {
  price: CallPrice;
}

/** Whether its amount depends on prices, because the sender reports no cost. */
export function needsPrice({ cost, tokens }: CallRecord): boolean {
  return cost === undefined && tokens !== undefined;
}

/** The cost that the sender reports counts before the price of the tokens. */
export function withPrice(call: CallRecord, sources: PriceSources): PricedCall {
  return { ...call, price: priceOf(call, sources) };
}

/** Whether the call has tokens, and nobody knows what they cost. */
export function isUnpriced({ outcome, price }: PricedCall): boolean {
  return outcome === 'spent' && price.pricedBy === 'none';
}

function priceOf({ cost, tokens, ...call }: CallRecord, sources: PriceSources): CallPrice {
  if (cost !== undefined) return { pricedBy: 'sender', ...cost };
  const amount = tokens && amountOf({ ...call, tokens }, sources);
  return amount ?? { pricedBy: 'none', micros: 0 };
}
