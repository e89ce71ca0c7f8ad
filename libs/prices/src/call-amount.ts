import { MAX_MICROS } from '@tollkeeper/kernel';
import type { PriceKind, PriceTier } from './price-table.ts';
import { inputTotal, type TokenKinds } from './tokens.ts';

export interface TokenPrice {
  kind: PriceKind;
  tier: PriceTier;
  /** The price of calls with more tokens of input, cached or not. 0 for all calls. */
  aboveTokens: number;
  microsPerMillion: number;
}

/** Kinds of tokens that calls report. */
export const REPORTED_KINDS = [
  'input',
  'cache_read',
  'cache_write',
  'cache_write_1h',
  'output',
  'reasoning',
] as const satisfies readonly PriceKind[];
export type ReportedKind = (typeof REPORTED_KINDS)[number];

/** Kinds without a price of their own have that of another kind. */
const LIKE: Readonly<Record<ReportedKind, ReportedKind | undefined>> = {
  input: undefined,
  cache_read: 'input',
  cache_write: 'input',
  cache_write_1h: 'cache_write',
  output: undefined,
  reasoning: 'output',
};

const MILLION = 1_000_000n;

/**
 * What the tokens of a call cost in USD micros, rounded half up once. Undefined if a kind of them has no price, and for
 * more than Tollkeeper's largest amount.
 */
export function callAmount(tokens: TokenKinds, prices: readonly TokenPrice[], tier: PriceTier): number | undefined {
  const total = inputTotal(tokens);
  let sum = 0n;
  for (const [kind, count] of countsOf(tokens)) {
    if (count === 0) continue;
    const price = priceOf(kind, prices, tier, total);
    if (price === undefined) return undefined;
    sum += BigInt(count) * BigInt(price.microsPerMillion);
  }
  const micros = (2n * sum + MILLION) / (2n * MILLION);
  return micros > BigInt(MAX_MICROS) ? undefined : Number(micros);
}

function countsOf(tokens: TokenKinds): [ReportedKind, number][] {
  return [
    ['input', tokens.input],
    ['cache_read', tokens.cacheRead],
    ['cache_write', tokens.cacheWrite],
    ['cache_write_1h', tokens.cacheWrite1h],
    ['output', tokens.output - tokens.reasoning],
    ['reasoning', tokens.reasoning],
  ];
}

/** Of the kind at the tier of the call, else at the default one; else of the kind that it is like. */
function priceOf(
  kind: ReportedKind,
  prices: readonly TokenPrice[],
  tier: PriceTier,
  total: number,
): TokenPrice | undefined {
  const own = highestBelow(total, prices, kind, tier) ?? highestBelow(total, prices, kind, 'default');
  const like = LIKE[kind];
  return own ?? (like === undefined ? undefined : priceOf(like, prices, tier, total));
}

/** The price with the highest threshold that the call is above. */
function highestBelow(
  total: number,
  prices: readonly TokenPrice[],
  kind: ReportedKind,
  tier: PriceTier,
): TokenPrice | undefined {
  let highest: TokenPrice | undefined;
  for (const price of prices) {
    if (price.kind !== kind || price.tier !== tier) continue;
    if (price.aboveTokens > 0 && total <= price.aboveTokens) continue;
    if (highest === undefined || price.aboveTokens > highest.aboveTokens) highest = price;
  }
  return highest;
}
