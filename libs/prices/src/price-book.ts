import { callAmount, type TokenPrice } from './call-amount.ts';
import { modelNames, type ReportedModel } from './model-names.ts';
import type { PriceRow, PriceTable, PriceTier } from './price-table.ts';
import type { TokenKinds } from './tokens.ts';

export interface CallToPrice extends ReportedModel {
  /** Epoch milliseconds. The prices at that time count. */
  timeMs: number;
  tokens: TokenKinds;
  /** As its provider names it. Tiers without prices of their own count as the default one. */
  serviceTier: string | undefined;
}

export interface PricedAmount {
  /** USD micros, rounded half up: 0 for less than half a micro. */
  micros: number;
  /** The id of the rows whose prices were taken. */
  priceId: string;
  /** The version of their table. */
  priceVersion: string;
}

export interface PriceBook {
  /** What a call costs. Undefined if no name of its model has a price for all kinds of its tokens. */
  price(call: CallToPrice): PricedAmount | undefined;
}

const TIERS: ReadonlyMap<string, PriceTier> = new Map([
  ['batch', 'batch'],
  ['priority', 'priority'],
  ['flex', 'flex'],
]);

interface IndexedPrice extends TokenPrice {
  id: string;
  fromMs: number;
  toMs: number;
}

export function createPriceBook({ rows, version }: PriceTable): PriceBook {
  const byName = new Map<string, IndexedPrice[]>();
  for (const row of rows) {
    const price = indexed(row);
    for (const name of row.match.map((each) => each.toLowerCase())) {
      const others = byName.get(name);
      if (others === undefined) byName.set(name, [price]);
      else others.push(price);
    }
  }
  return {
    price({ timeMs, tokens, serviceTier, ...model }) {
      const tier = TIERS.get(serviceTier?.toLowerCase() ?? '') ?? 'default';
      for (const name of modelNames(model)) {
        const prices = byName.get(name)?.filter(({ fromMs, toMs }) => fromMs <= timeMs && timeMs < toMs);
        if (prices?.[0] === undefined) continue;
        const micros = callAmount(tokens, prices, tier);
        if (micros !== undefined) return { micros, priceId: prices[0].id, priceVersion: version };
      }
      return undefined;
    },
  };
}

function indexed(row: PriceRow): IndexedPrice {
  return {
    id: row.id,
    kind: row.kind,
    tier: row.tier,
    aboveTokens: row.above_tokens ?? 0,
    microsPerMillion: row.micros_per_mtok,
    fromMs: row.valid_from === undefined ? -Infinity : Date.parse(row.valid_from),
    toMs: row.valid_to === undefined ? Infinity : Date.parse(row.valid_to),
  };
}
