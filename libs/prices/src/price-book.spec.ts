import { describe, expect, it } from '@jest/globals';
import { createPriceBook, type CallToPrice } from './price-book.ts';
import type { PriceRow } from './price-table.ts';

const NO_TOKENS = { input: 0, cacheRead: 0, cacheWrite: 0, cacheWrite1h: 0, output: 0, reasoning: 0 };

function row(name: string, micros: number, more: Partial<PriceRow> = {}): PriceRow {
  return {
    id: name,
    provider: 'x',
    match: [name],
    kind: 'input',
    tier: 'default',
    micros_per_mtok: micros,
    source: 'test',
    ...more,
  };
}

/** A call with a million tokens of input, so that its amount is the price. */
function call(responseModel: string | undefined, more: Partial<CallToPrice> = {}): CallToPrice {
  return {
    responseModel,
    requestModel: undefined,
    provider: undefined,
    serviceTier: undefined,
    timeMs: Date.parse('2026-11-26T12:00:00Z'),
    tokens: { ...NO_TOKENS, input: 1_000_000 },
    ...more,
  };
}

/** The ids under which a call is found, most wanted first: each is removed when it has been found. */
function orderOf(of: CallToPrice, names: readonly string[]): string[] {
  const left = new Set(names);
  const found: string[] = [];
  for (;;) {
    const rows = [...left].toReversed().map((name) => row(name, 1));
    const id = createPriceBook({ rows, version: 'v' }).price(of)?.priceId;
    if (id === undefined) return found;
    found.push(id);
    left.delete(id);
  }
}

describe('a call is priced', () => {
  it('by the model that answered, without its date and with the provider before it, then by the one of the request', () => {
    const names = [
      'gpt-4o-2026-08-06',
      'gpt-4o',
      'openai/gpt-4o-2026-08-06',
      'openai/gpt-4o',
      'fast-20250929',
      'fast',
      'openai/fast-20250929',
      'openai/fast',
    ];
    const others = ['gpt', 'gpt-4', 'gpt-4o-2026', 'azure/gpt-4o', 'gpt-4o-2026-08-06-x', 'o'];
    const of = call('gpt-4o-2026-08-06', { requestModel: 'fast-20250929', provider: 'openai' });
    expect(orderOf(of, [...others, ...names])).toEqual(names);
  });

  it('by names of Bedrock without the version, then also without the region', () => {
    const names = [
      'us.anthropic.claude-sonnet-4-5-20250929-v1:0',
      'bedrock/us.anthropic.claude-sonnet-4-5-20250929-v1:0',
      'us.anthropic.claude-sonnet-4-5-20250929-v1',
      'us.anthropic.claude-sonnet-4-5-20250929',
      'us.anthropic.claude-sonnet-4-5',
      'anthropic.claude-sonnet-4-5-20250929-v1:0',
      'anthropic.claude-sonnet-4-5-20250929-v1',
      'anthropic.claude-sonnet-4-5-20250929',
      'anthropic.claude-sonnet-4-5',
    ];
    const of = call('us.anthropic.claude-sonnet-4-5-20250929-v1:0', { provider: 'aws.bedrock' });
    expect(orderOf(of, [...names, 'claude-sonnet-4-5'])).toEqual(names);
    for (const region of ['eu', 'global', 'apac', 'us-gov']) {
      expect(orderOf(call(`${region}.amazon.nova-pro-v1:0`), ['amazon.nova-pro-v1:0'])).toHaveLength(1);
    }
  });

  it.each([
    ['claude-haiku@20251001', 'claude-haiku'],
    ['Claude-HAIKU', 'claude-haiku'],
    ['claude-haiku', 'Claude-Haiku'],
    [' claude-haiku\n', 'claude-haiku'],
  ])('as %s by the price of %s', (model, name) => {
    expect(orderOf(call(model), [name])).toEqual([name]);
  });

  it.each([
    ['x_ai', 'xai/m'],
    ['gcp.vertex_ai', 'vertex_ai/m'],
    ['azure.ai.openai', 'azure/m'],
    ['Mistral_AI', 'mistral/m'],
    ['groq', 'groq/m'],
  ])('at the provider that telemetry names %s as %s', (provider, name) => {
    expect(orderOf(call('m', { provider }), [name, 'other/m'])).toEqual([name]);
  });

  it('without the provider that its model begins with, and without no other', () => {
    const of = call('vertex_ai/claude-haiku@20251001', { provider: 'gcp.vertex_ai' });
    expect(orderOf(of, ['claude-haiku', 'claude-haiku@20251001'])).toEqual(['claude-haiku@20251001', 'claude-haiku']);
    for (const provider of [undefined, 'anthropic']) {
      expect(orderOf(call('vertex_ai/claude-haiku', { provider }), ['claude-haiku'])).toEqual([]);
    }
  });

  it('at the prices of the time of the call', () => {
    const book = createPriceBook({
      rows: [
        row('o3', 10, { valid_to: '2025-06-10' }),
        row('o3', 2, { valid_from: '2025-06-10', valid_to: '2026-01-01' }),
        row('o3', 1, { valid_from: '2026-03-01' }),
      ],
      version: 'v',
    });
    const at = (time: string) => book.price(call('o3', { timeMs: Date.parse(time) }))?.micros;
    expect(at('1970-01-01T00:00:00Z')).toBe(10);
    expect(at('2025-06-09T23:59:59.999Z')).toBe(10);
    expect(at('2025-06-10T00:00:00Z')).toBe(2);
    expect(at('2025-12-31T23:59:59.999Z')).toBe(2);
    expect(at('2026-01-01T00:00:00Z')).toBeUndefined();
    expect(at('2026-03-01T00:00:00Z')).toBe(1);
  });

  it.each([
    ['flex', 1],
    ['PRIORITY', 4],
    ['batch', 2],
    ['scale', 2],
    [undefined, 2],
  ])('at its service tier %s', (serviceTier, micros) => {
    const rows = [row('m', 2), row('m', 1, { tier: 'flex' }), row('m', 4, { tier: 'priority' })];
    expect(createPriceBook({ rows, version: 'v' }).price(call('m', { serviceTier }))?.micros).toBe(micros);
  });

  it('by the next name if the first one has no price for a kind of its tokens', () => {
    const rows = [row('m', 2), row('p/m', 3), row('p/m', 5, { kind: 'output' })];
    const of = call('m', { provider: 'p', tokens: { ...NO_TOKENS, output: 1_000_000 } });
    expect(createPriceBook({ rows, version: 'v1' }).price(of)).toEqual({
      micros: 5,
      priceId: 'p/m',
      priceVersion: 'v1',
    });
  });

  it('by nothing if no name of it has a price', () => {
    const book = createPriceBook({ rows: [row('gpt-4o', 1)], version: 'v' });
    expect(book.price(call('gpt-4o-mini'))).toBeUndefined();
    expect(book.price(call(undefined))).toBeUndefined();
  });
});
