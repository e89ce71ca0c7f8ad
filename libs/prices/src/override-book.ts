import { callAmount, type ReportedKind, type TokenPrice } from './call-amount.ts';
import { overrideName, overrideNames } from './model-names.ts';
import type { CallToPrice, PricedAmount } from './price-book.ts';

/** The price of a model that a workspace has set. It counts until the next one under the same {@link overrideName}. */
export interface Override {
  id: string;
  /** Undefined for calls of any provider. */
  provider: string | undefined;
  model: string;
  /** Epoch milliseconds. */
  validFromMs: number;
  /** USD micros for a million tokens, at every service tier and length. Without any, the table counts again. */
  microsPerMillion: Readonly<Partial<Record<ReportedKind, number>>>;
}

export interface OverrideBook {
  /** As that of a price book. Undefined also if an override has no price for a kind of the tokens. */
  price(call: CallToPrice): Omit<PricedAmount, 'priceVersion'> | undefined;
}

interface IndexedOverride {
  id: string;
  validFromMs: number;
  prices: readonly TokenPrice[];
}

/** `overrides` are in the order in which they were set: of two from the same time, the later one counts. */
export function createOverrideBook(overrides: readonly Override[]): OverrideBook {
  const byName = new Map<string, IndexedOverride[]>();
  for (const override of overrides) {
    const name = overrideName(override);
    const others = byName.get(name);
    if (others === undefined) byName.set(name, [indexed(override)]);
    else others.push(indexed(override));
  }
  // Sorting keeps the order of those from the same time.
  for (const ofName of byName.values()) ofName.sort((a, b) => a.validFromMs - b.validFromMs);
  return {
    price({ timeMs, tokens, serviceTier: _tier, ...model }) {
      if (byName.size === 0) return undefined;
      for (const name of overrideNames(model)) {
        const inForce = byName.get(name)?.findLast(({ validFromMs }) => validFromMs <= timeMs);
        const micros = inForce && callAmount(tokens, inForce.prices, 'default');
        if (micros !== undefined) return { micros, priceId: inForce!.id };
      }
      return undefined;
    },
  };
}

function indexed({ id, validFromMs, microsPerMillion }: Override): IndexedOverride {
  const prices = Object.entries(microsPerMillion) as [ReportedKind, number][];
  return {
    id,
    validFromMs,
    prices: prices.map(([kind, micros]) => ({ kind, tier: 'default', aboveTokens: 0, microsPerMillion: micros })),
  };
}
