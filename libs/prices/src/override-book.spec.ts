import { describe, expect, it } from '@jest/globals';
import { createOverrideBook, type Override } from './override-book.ts';
import type { CallToPrice } from './price-book.ts';

const NO_TOKENS = { input: 0, cacheRead: 0, cacheWrite: 0, cacheWrite1h: 0, output: 0, reasoning: 0 };
const DAY = 86_400_000;
const START = Date.parse('2026-11-01T00:00:00Z');

function override(id: string, model: string, more: Partial<Override> = {}): Override {
  return { id, provider: undefined, model, validFromMs: START, microsPerMillion: { input: 1_000_000 }, ...more };
}

/** A call with a million tokens of input, so that its amount is the price. */
function call(responseModel: string | undefined, more: Partial<CallToPrice> = {}): CallToPrice {
  return {
    responseModel,
    requestModel: undefined,
    provider: undefined,
    serviceTier: undefined,
    timeMs: START + 5 * DAY,
    tokens: { ...NO_TOKENS, input: 1_000_000 },
    ...more,
  };
}

/** The ids of the overrides by which a call is priced, most wanted first: each is removed when it has been found. */
function orderOf(of: CallToPrice, overrides: readonly Override[]): string[] {
  const found: string[] = [];
  for (;;) {
    const left = overrides.filter(({ id }) => !found.includes(id));
    const id = createOverrideBook(left).price(of)?.priceId;
    if (id === undefined) return found;
    found.push(id);
  }
}

describe("a workspace's prices", () => {
  it('are found by the names of the table in its order, those for the provider of the call before those for any', () => {
    const azure = { provider: 'Azure' };
    const overrides = [
      override('none', 'gpt'),
      override('other provider', 'gpt-4o', { provider: 'openai' }),
      override('provider and name', 'azure/fast'),
      override('request', 'fast'),
      override('model', 'GPT-4o'),
      override('exact', 'gpt-4o-2026-08-06'),
      override('request of provider', 'fast', azure),
      override('model of provider', 'gpt-4o', azure),
      override('exact of provider', 'GPT-4o-2026-08-06', azure),
    ];
    const of = call('gpt-4o-2026-08-06', { requestModel: 'fast', provider: 'azure.ai.openai' });
    expect(orderOf(of, overrides)).toEqual([
      'exact of provider',
      'model of provider',
      // The same name as "azure/fast", which was set before.
      'request of provider',
      'provider and name',
      'exact',
      'model',
      'request',
    ]);
    expect(orderOf(call('gpt-4o'), overrides)).toEqual(['model']);
    const ofBedrock = call('us.anthropic.claude-v1:0', { provider: 'aws.bedrock' });
    const claude = override('claude', 'anthropic.claude', { provider: 'bedrock' });
    expect(orderOf(ofBedrock, [override('any', 'anthropic.claude'), claude])).toEqual(['claude', 'any']);
  });

  it('count from their time on, until the next one of the model; of two from one time, the one set last', () => {
    const at = (days: number) => ({ validFromMs: START + days * DAY });
    const book = createOverrideBook([
      override('second', 'm', at(2)),
      override('corrected', 'm', at(2)),
      override('of another', 'm', { provider: 'x', ...at(3) }),
      override('first', 'm', at(0)),
    ]);
    const idAt = (timeMs: number) => book.price(call('m', { timeMs }))?.priceId;
    expect([idAt(START - 1), idAt(START), idAt(START + 2 * DAY - 1), idAt(START + 2 * DAY), idAt(Infinity)]).toEqual([
      undefined,
      'first',
      'first',
      'corrected',
      'corrected',
    ]);
  });

  it('end with one that has no price, after which the call has none', () => {
    const book = createOverrideBook([
      override('first', 'm'),
      override('end', 'm', { validFromMs: START + DAY, microsPerMillion: {} }),
    ]);
    expect(book.price(call('m', { timeMs: START }))?.priceId).toBe('first');
    expect(book.price(call('m', { timeMs: START + DAY }))).toBeUndefined();
  });

  it('may be 0, which is a price', () => {
    const free = override('free', 'm', { microsPerMillion: { input: 0, output: 0 } });
    const tokens = { ...NO_TOKENS, input: 5, cacheRead: 7, output: 3 };
    expect(createOverrideBook([free]).price(call('m', { tokens }))).toEqual({ micros: 0, priceId: 'free' });
  });

  it('lend a kind of tokens without a price that of another, as in the table, and are none if there is no other', () => {
    const prices = { input: 3_000_000, cache_read: 500_000, cache_write: 4_000_000 };
    const book = createOverrideBook([override('m', 'm', { microsPerMillion: prices })]);
    const tokens = { input: 10, cacheRead: 10, cacheWrite: 10, cacheWrite1h: 10, output: 0, reasoning: 0 };
    expect(book.price(call('m', { tokens }))?.micros).toBe(30 + 5 + 40 + 40);
    expect(book.price(call('m', { tokens: { ...tokens, output: 1 } }))).toBeUndefined();
  });

  it('that have no price for all tokens of a call leave it to the next name', () => {
    const book = createOverrideBook([
      override('input alone', 'm-2026-01-01'),
      override('both', 'm', { microsPerMillion: { input: 1, output: 1 } }),
    ]);
    const tokens = { ...NO_TOKENS, input: 1_000_000, output: 1_000_000 };
    expect(book.price(call('m-2026-01-01', { tokens }))).toEqual({ micros: 2, priceId: 'both' });
  });

  it('count at every service tier', () => {
    const book = createOverrideBook([override('m', 'm')]);
    expect(book.price(call('m', { serviceTier: 'batch' }))?.micros).toBe(1_000_000);
  });
});
