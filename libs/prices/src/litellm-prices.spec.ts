import { describe, expect, it } from '@jest/globals';
import { LitellmFileError, readLitellmPrices } from './litellm-prices.ts';

const MODEL = { litellm_provider: 'openai', mode: 'chat', input_cost_per_token: 2.5e-6, output_cost_per_token: 1e-5 };
const read = (models: Record<string, unknown>) => readLitellmPrices(JSON.stringify(models));

function refusalOf(models: Record<string, unknown>): string {
  try {
    read(models);
  } catch (error) {
    if (error instanceof LitellmFileError) return error.message;
    throw error;
  }
  return 'accepted';
}

/** `kind`, `tier`, threshold and price of a model with these fields. */
const pricesOf = (fields: Record<string, unknown>) =>
  read({ m: { litellm_provider: 'x', input_cost_per_token: 1e-6, ...fields } })[0]?.prices.map(
    ({ kind, tier, above_tokens, micros_per_mtok }) => [kind, tier, above_tokens, micros_per_mtok],
  );
const INPUT = ['input', 'default', undefined, 1_000_000];

describe("LiteLLM's list of prices", () => {
  it('has the prices of a model by kind of tokens, tier and threshold', () => {
    expect(read({ 'gpt-4o': MODEL })).toEqual([
      {
        id: 'gpt-4o',
        provider: 'openai',
        prices: [
          { kind: 'input', tier: 'default', micros_per_mtok: 2_500_000 },
          { kind: 'output', tier: 'default', micros_per_mtok: 10_000_000 },
        ],
      },
    ]);
  });

  it.each([
    ['cache_read_input_token_cost', ['cache_read', 'default', undefined, 2_000_000]],
    ['cache_creation_input_token_cost', ['cache_write', 'default', undefined, 2_000_000]],
    ['cache_creation_input_token_cost_above_1hr', ['cache_write_1h', 'default', undefined, 2_000_000]],
    ['output_cost_per_reasoning_token', ['reasoning', 'default', undefined, 2_000_000]],
    ['input_cost_per_audio_token', ['audio_in', 'default', undefined, 2_000_000]],
    ['output_cost_per_audio_token', ['audio_out', 'default', undefined, 2_000_000]],
    ['input_cost_per_token_batches', ['input', 'batch', undefined, 2_000_000]],
    ['output_cost_per_token_priority', ['output', 'priority', undefined, 2_000_000]],
    ['cache_read_input_token_cost_flex', ['cache_read', 'flex', undefined, 2_000_000]],
    ['input_cost_per_token_above_128k_tokens', ['input', 'default', 128_000, 2_000_000]],
    ['output_cost_per_token_above_272k_tokens_flex', ['output', 'flex', 272_000, 2_000_000]],
    ['cache_creation_input_token_cost_above_1hr_above_200k_tokens', ['cache_write_1h', 'default', 200_000, 2_000_000]],
  ])('has %s', (field, price) => {
    expect(pricesOf({ [field]: 2e-6 })).toEqual([INPUT, price]);
  });

  it.each([
    'input_cost_per_token_cache_hit',
    'input_cost_per_token_ultrafast',
    'output_cost_per_image_token',
    'input_cost_per_character',
    'output_cost_per_second',
    'max_input_tokens',
  ])('has %s, which is no price of the tokens that calls report', (field) => {
    expect(pricesOf({ [field]: 2e-6 })).toEqual([INPUT]);
  });

  it('has prices by ranges of the input', () => {
    const tiered = [
      { range: [0, 32_000], input_cost_per_token: 1e-6, output_cost_per_token: 2e-6 },
      { range: [32_000, 128_000], input_cost_per_token: 3e-6, output_cost_per_token: 4e-6 },
      { max_results_range: [0, 10], input_cost_per_query: 1 },
    ];
    expect(pricesOf({ input_cost_per_token: undefined, tiered_pricing: tiered })).toEqual([
      INPUT,
      ['output', 'default', undefined, 2_000_000],
      ['input', 'default', 32_000, 3_000_000],
      ['output', 'default', 32_000, 4_000_000],
    ]);
  });

  it('is read without the noise of floating point', () => {
    expect(pricesOf({ output_cost_per_token: 1.5000020000000002e-5 })).toEqual([
      INPUT,
      ['output', 'default', undefined, 15_000_020],
    ]);
    expect(pricesOf({ output_cost_per_token: 2.8e-8 })?.[1]?.[3]).toBe(28_000);
  });

  it('has no prices of models without any, or with only zeros', () => {
    const free = { litellm_provider: 'x', input_cost_per_token: 0, output_cost_per_token: 0.0 };
    expect(read({ 'dall-e': { litellm_provider: 'x', output_cost_per_image: 1 }, free })).toEqual([]);
    expect(pricesOf({ output_cost_per_token: 0 })).toEqual([INPUT, ['output', 'default', undefined, 0]]);
  });

  it.each([
    ['a text', '1e-6'],
    ['a negative price', -1e-6],
    ['part of a millionth of a micro', 1.5e-12],
    ['null', null],
    ['a list', [1e-6]],
  ])('is refused with %s, by model and field', (_what, value) => {
    const message = refusalOf({ 'gpt-4o': MODEL, m: { ...MODEL, output_cost_per_token: value } });
    expect(message).toMatch(/^m: output_cost_per_token: must be USD per token/);
  });

  it.each([
    ['a model that is no object', { m: 1 }, 'm: must be an object'],
    ['no provider', { m: { input_cost_per_token: 1 } }, 'm: litellm_provider: must be a text'],
    ['ranges that are no list', { m: { ...MODEL, tiered_pricing: 1 } }, 'm: tiered_pricing: must be a list'],
    ['a range that is none', { m: { ...MODEL, tiered_pricing: [1] } }, 'm: tiered_pricing: must be a list of objects'],
    [
      'a range of texts',
      { m: { ...MODEL, tiered_pricing: [{ range: ['0'] }] } },
      'm: tiered_pricing.range: must begin at a number',
    ],
  ])('is refused with %s', (_what, models, message) => {
    expect(refusalOf(models)).toBe(message);
  });

  it('is refused as a list', () => {
    expect(() => readLitellmPrices('[]')).toThrow('The file must be an object with an entry for each model.');
  });
});
