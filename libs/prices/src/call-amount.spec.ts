import { describe, expect, it } from '@jest/globals';
import { MAX_MICROS } from '@tollkeeper/kernel';
import fc from 'fast-check';
import { callAmount, type TokenPrice } from './call-amount.ts';
import type { PriceKind, PriceTier } from './price-table.ts';
import type { TokenKinds } from './tokens.ts';

const NO_TOKENS: TokenKinds = { input: 0, cacheRead: 0, cacheWrite: 0, cacheWrite1h: 0, output: 0, reasoning: 0 };
const tokens = (some: Partial<TokenKinds>): TokenKinds => ({ ...NO_TOKENS, ...some });

/** A price in USD per million tokens, as providers write it. */
function price(kind: PriceKind, usd: number, more: { tier?: PriceTier; aboveTokens?: number } = {}): TokenPrice {
  return { kind, tier: 'default', aboveTokens: 0, microsPerMillion: usd * 1e6, ...more };
}

const MILLION = tokens({ input: 1e6 });

describe('the amount of a call', () => {
  it('is that of its tokens of each kind', () => {
    const prices = [
      price('input', 3),
      price('cache_read', 0.3),
      price('cache_write', 3.75),
      price('cache_write_1h', 6),
      price('output', 15),
      price('reasoning', 20),
    ];
    const all = { input: 1e6, cacheRead: 1e6, cacheWrite: 1e6, cacheWrite1h: 1e6, output: 3e6, reasoning: 1e6 };
    expect(callAmount(all, prices, 'default')).toBe(3e6 + 0.3e6 + 3.75e6 + 6e6 + 2 * 15e6 + 20e6);
  });

  it('takes the price of another kind for kinds without one', () => {
    const prices = [price('input', 3), price('output', 15)];
    const amount = (some: Partial<TokenKinds>, more: TokenPrice[] = []) =>
      callAmount(tokens(some), [...prices, ...more], 'default');
    expect(amount({ cacheRead: 1e6 })).toBe(3e6);
    expect(amount({ cacheWrite: 1e6 })).toBe(3e6);
    expect(amount({ cacheWrite1h: 1e6 })).toBe(3e6);
    expect(amount({ cacheWrite1h: 1e6 }, [price('cache_write', 4)])).toBe(4e6);
    expect(amount({ output: 1e6, reasoning: 1e6 })).toBe(15e6);
  });

  it('is unknown if a kind of its tokens has no price, even if others have one', () => {
    const onlyInput = [price('input', 3)];
    expect(callAmount(tokens({ input: 1, output: 1 }), onlyInput, 'default')).toBeUndefined();
    expect(callAmount(tokens({ input: 1 }), [price('output', 3)], 'default')).toBeUndefined();
    expect(callAmount(tokens({ input: 1e6 }), onlyInput, 'default')).toBe(3e6);
  });

  it('is the one of its tier, by kinds that have a price there, else the default one', () => {
    const prices = [
      price('input', 2),
      price('input', 1, { tier: 'batch' }),
      price('cache_read', 0.5),
      price('output', 8),
      price('output', 4, { tier: 'batch' }),
    ];
    const all = tokens({ input: 1e6, cacheRead: 1e6, output: 1e6 });
    expect(callAmount(all, prices, 'batch')).toBe(1e6 + 0.5e6 + 4e6);
    expect(callAmount(all, prices, 'flex')).toBe(2e6 + 0.5e6 + 8e6);
    expect(callAmount(tokens({ cacheWrite: 1e6 }), prices, 'batch')).toBe(1e6);
  });

  it('is higher for all tokens if the input, with cached tokens, is above a threshold', () => {
    const prices = [
      price('input', 1),
      price('input', 2, { aboveTokens: 200_000 }),
      price('input', 5, { aboveTokens: 500_000 }),
      price('cache_read', 0.1),
      price('output', 10),
      price('output', 20, { aboveTokens: 200_000 }),
    ];
    const amount = (input: number, cacheRead: number) =>
      callAmount(tokens({ input, cacheRead, output: 1_000 }), prices, 'default');
    expect(amount(200_000, 0)).toBe(200_000 + 10_000);
    expect(amount(200_001, 0)).toBe(400_002 + 20_000);
    expect(amount(100_000, 100_001)).toBe(200_000 + 10_000 + 20_000);
    expect(amount(500_001, 0)).toBe(2_500_005 + 20_000);
  });

  it('is rounded half up once, after the sum', () => {
    const prices = [price('input', 0.1), price('output', 0.4)];
    expect(callAmount(tokens({ input: 4 }), prices, 'default')).toBe(0);
    expect(callAmount(tokens({ input: 5 }), prices, 'default')).toBe(1);
    expect(callAmount(tokens({ input: 4, output: 1 }), prices, 'default')).toBe(1);
    expect(callAmount(tokens({ input: 14 }), prices, 'default')).toBe(1);
  });

  it('is unknown above the largest amount of Tollkeeper', () => {
    const prices = [{ ...price('input', 0), microsPerMillion: 1e10 }];
    const most = Math.floor(MAX_MICROS / 1e4);
    expect(callAmount(tokens({ input: most }), prices, 'default')).toBe(most * 1e4);
    expect(callAmount(tokens({ input: most + 1 }), prices, 'default')).toBeUndefined();
  });

  it('may be 0 by a price of 0', () => {
    expect(callAmount(MILLION, [price('input', 0)], 'default')).toBe(0);
  });
});

/** Which prices count for a kind of tokens at a tier, in order. */
const ORDER: Record<keyof TokenKinds, readonly PriceKind[]> = {
  input: ['input'],
  cacheRead: ['cache_read', 'input'],
  cacheWrite: ['cache_write', 'input'],
  cacheWrite1h: ['cache_write_1h', 'cache_write', 'input'],
  output: ['output'],
  reasoning: ['reasoning', 'output'],
};

/** The amount as a sum of fractions of USD, in lowest terms. */
function referenceAmount(call: TokenKinds, prices: readonly TokenPrice[], tier: PriceTier): number | undefined {
  const total = call.input + call.cacheRead + call.cacheWrite + call.cacheWrite1h;
  let sum: [numerator: bigint, denominator: bigint] = [0n, 1n];
  for (const [kind, names] of Object.entries(ORDER) as [keyof TokenKinds, readonly PriceKind[]][]) {
    const count = kind === 'output' ? call.output - call.reasoning : call[kind];
    const [first] = names
      .flatMap((name) => [tier, 'default'].map((at) => prices.filter((each) => each.kind === name && each.tier === at)))
      .map((each) => each.filter(({ aboveTokens }) => aboveTokens === 0 || aboveTokens < total))
      .filter((each) => each.length > 0)
      .map((each) => each.toSorted((a, b) => b.aboveTokens - a.aboveTokens)[0]!);
    if (first === undefined && count > 0) return undefined;
    sum = add(sum, [BigInt(count) * BigInt(first?.microsPerMillion ?? 0), 10n ** 12n]);
  }
  // The largest whole number of micros that is at most half a micro more.
  const [numerator, denominator] = add([sum[0] * 1_000_000n, sum[1]], [1n, 2n]);
  return Number(numerator / denominator);
}

function add([a, b]: [bigint, bigint], [c, d]: [bigint, bigint]): [bigint, bigint] {
  const [numerator, denominator] = [a * d + c * b, b * d];
  let [divisor, rest] = [numerator, denominator];
  while (rest > 0n) [divisor, rest] = [rest, divisor % rest];
  return [numerator / divisor, denominator / divisor];
}

const KINDS = ['input', 'cache_read', 'cache_write', 'cache_write_1h', 'output', 'reasoning'] as const;
const TIERS = ['default', 'batch', 'priority', 'flex'] as const;
const COUNT = fc.oneof(fc.constant(0), fc.nat({ max: 300 }), fc.nat({ max: 2_000_000 }));
const CALL = fc
  .record({ input: COUNT, cacheRead: COUNT, cacheWrite: COUNT, cacheWrite1h: COUNT, output: COUNT, reasoning: COUNT })
  .map((call) => ({ ...call, output: call.output + call.reasoning }));
const PRICES = fc.uniqueArray(
  fc.record({
    kind: fc.constantFrom<PriceKind>(...KINDS, 'audio_in'),
    tier: fc.constantFrom<PriceTier>(...TIERS),
    aboveTokens: fc.constantFrom(0, 0, 100, 200_000, 1_000_000),
    microsPerMillion: fc.oneof(fc.nat({ max: 100 }), fc.nat({ max: 1_000_000_000 })),
  }),
  { minLength: 1, maxLength: 30, selector: ({ kind, tier, aboveTokens }) => `${kind} ${tier} ${aboveTokens}` },
);

it('every amount equals that of a calculation with fractions', () => {
  fc.assert(
    fc.property(CALL, PRICES, fc.constantFrom<PriceTier>(...TIERS), (call, prices, tier) => {
      expect(callAmount(call, prices, tier)).toBe(referenceAmount(call, prices, tier));
    }),
    { numRuns: 2_000 },
  );
});
