import { describe, expect, it } from '@jest/globals';
import { calcPrice } from '@pydantic/genai-prices';
import { readBundledTable } from './bundled-table.ts';
import { type CallToPrice, createPriceBook } from './price-book.ts';
import type { TokenKinds } from './tokens.ts';

const TABLE = readBundledTable();
const BOOK = createPriceBook(TABLE);
/** Rows are only added, so what calls of this time cost never changes. */
const FIRST_IMPORT = '2026-11-29T12:00:00Z';
/** Noon of the day since which all newest rows count. */
const NEWEST = `${TABLE.rows.map(({ valid_from = '' }) => valid_from).reduce((a, b) => (a > b ? a : b))}T12:00:00Z`;
const NO_TOKENS: TokenKinds = { input: 0, cacheRead: 0, cacheWrite: 0, cacheWrite1h: 0, output: 0, reasoning: 0 };
/** 10,000 tokens of input, 4,000 of them cached, and 1,000 of output. */
const USUAL: TokenKinds = { ...NO_TOKENS, input: 6_000, cacheRead: 4_000, output: 1_000 };

function micros(responseModel: string, tokens: TokenKinds, more: Partial<CallToPrice> = {}): number | undefined {
  const call = { responseModel, requestModel: undefined, provider: undefined, serviceTier: undefined, ...more };
  return BOOK.price({ timeMs: Date.parse(FIRST_IMPORT), tokens, ...call })?.micros;
}

/** The names of the models that have one of the prices of a call at the newest time. */
function namesOf(responseModel: string, provider?: string): readonly string[] | undefined {
  const timeMs = Date.parse(NEWEST);
  const tokens = { ...NO_TOKENS, input: 1 };
  const priced = BOOK.price({
    responseModel,
    requestModel: 'gpt-4o',
    provider,
    serviceTier: undefined,
    timeMs,
    tokens,
  });
  return TABLE.rows.find(({ id }) => id === priced?.priceId)?.match;
}
const INPUT_NAMES = new Set(
  TABLE.rows.flatMap(({ kind, tier, above_tokens, valid_to, match }) =>
    kind === 'input' && tier === 'default' && above_tokens === undefined && valid_to === undefined ? match : [],
  ),
);

describe('the prices of this release', () => {
  it.each([
    ['gpt-4o', 30_000],
    ['gpt-4o-mini', 1_800],
    ['gpt-4.1', 22_000],
    ['gpt-5', 18_000],
    ['gpt-5-mini', 3_600],
    ['o3', 22_000],
    ['claude-sonnet-4-5', 34_200],
    ['claude-haiku-4-5', 11_400],
    ['claude-opus-4-1', 171_000],
    ['gemini-2.5-pro', 18_000],
    ['gemini-2.5-flash', 4_420],
    ['grok-4', 36_000],
    ['deepseek-chat', 2_212],
    ['mistral/mistral-large-latest', 4_700],
  ])('of %s are those of its provider', (model, expected) => {
    expect(micros(model, USUAL)).toBe(expected);
  });

  it('of embeddings, of long contexts and of service tiers are those of their providers', () => {
    expect(micros('text-embedding-3-small', { ...NO_TOKENS, input: 10_000 })).toBe(200);
    expect(micros('gemini-2.5-pro', { ...NO_TOKENS, input: 300_000, output: 1_000 })).toBe(765_000);
    expect(micros('gpt-4o', USUAL, { serviceTier: 'priority' })).toBe(6_000 * 4.25 + 4_000 * 2.125 + 17_000);
    expect(micros('claude-sonnet-4-5', { ...NO_TOKENS, cacheWrite: 1_000 }, { serviceTier: 'batch' })).toBe(1_875);
  });

  it('have the amounts of the recorded calls of gateways', () => {
    const openai = { ...NO_TOKENS, input: 176, cacheRead: 1_024, output: 345, reasoning: 128 };
    expect(micros('gpt-4o-2026-08-06', openai)).toBe(5_170);
    const anthropic = { ...NO_TOKENS, input: 176, cacheWrite: 300, cacheRead: 1_024, output: 345 };
    expect(micros('claude-sonnet-4-5-20250929', anthropic)).toBe(7_135);
  });

  it('are found by every name of LiteLLM in any case, whatever the model of the request', () => {
    expect(INPUT_NAMES.size).toBeGreaterThan(2_000);
    const lost = [...INPUT_NAMES].filter((name) => !namesOf(name.toUpperCase())?.includes(name));
    expect(lost).toEqual([]);
  });

  it('are found by names that have the provider before them, if the call names it', () => {
    const lost = [...INPUT_NAMES].filter((name) => {
      const slash = name.indexOf('/');
      return slash > 0 && !namesOf(name.slice(slash + 1), name.slice(0, slash));
    });
    expect(lost).toEqual([]);
  });

  it('are those of the region of Bedrock if it has any, else those of the model, at every version', () => {
    const models = [...INPUT_NAMES].filter((name) => /^(anthropic|amazon|meta)\.[^/]*-v\d+(:\d+)?$/.test(name));
    expect(models.length).toBeGreaterThan(20);
    const wrong = models.filter((model) => {
      const ofRegion = `us.${model}`;
      const reported = /:\d+$/.test(model) ? ofRegion : `${ofRegion}:0`;
      return !namesOf(reported)?.some((name) => name === (INPUT_NAMES.has(ofRegion) ? ofRegion : model));
    });
    expect(wrong).toEqual([]);
  });

  it('have no model that is free, because sources also say 0 of what they do not know', () => {
    const positive = new Set(TABLE.rows.filter((row) => row.micros_per_mtok > 0).map(({ id }) => id));
    expect(TABLE.rows.filter(({ id }) => !positive.has(id))).toEqual([]);
  });
});

/** The names of providers in genai-prices, by theirs in the table. */
const PROVIDERS = new Map([
  ['anthropic', 'anthropic'],
  ['openai', 'openai'],
  ['gemini', 'google'],
  ['vertex_ai-language-models', 'google'],
  ['xai', 'x-ai'],
  ['mistral', 'mistral'],
  ['deepseek', 'deepseek'],
]);

/** Models of these providers for which genai-prices has another price, by the reason. */
const OTHERWISE: Readonly<Record<string, readonly string[]>> = {
  'They are billed for images, speech, searches or embeddings, not for text alone.': [
    'gemini-2.5-pro-preview-tts',
    'gemini-3-pro-image',
    'gemini-3-pro-image-preview',
    'gemini-3.1-flash-image',
    'gemini-3.1-flash-image-preview',
    'gemini-3.1-flash-lite-image',
    'gemini/gemini-2.5-flash-image',
    'gemini/gemini-2.5-pro-preview-tts',
    'gemini/gemini-3.8-flash-lite-tts',
    'gemini/gemini-3.8-flash-tts',
    'gpt-4o-mini-tts',
    'gpt-4o-search-preview',
    'gpt-4o-search-preview-2025-03-11',
    'gpt-image-1',
    'gpt-image-1-mini',
    'gpt-image-2',
    'gpt-image-2-2026-04-21',
    'mistral/mistral-embed',
    'vertex_ai/gemini-3-pro-image',
    'vertex_ai/gemini-3-pro-image-preview',
    'vertex_ai/gemini-3.1-flash-image',
    'vertex_ai/gemini-3.1-flash-image-preview',
    'vertex_ai/gemini-3.1-flash-lite-image',
  ],
  'They are cheaper at some hours, and the table has the price of the others.': [
    'deepseek-v4-flash',
    'deepseek-v4-flash-vision-exp',
    'deepseek-v4-pro',
    'deepseek/deepseek-v4-flash',
    'deepseek/deepseek-v4-flash-vision-exp',
    'deepseek/deepseek-v4-pro',
  ],
  'Prices of fine-tuned models: genai-prices has none for cached tokens.': [
    'ft:gpt-4o-2024-08-06',
    'ft:gpt-4o-mini-2024-07-18',
  ],
  'The two sources disagree, mostly on what an alias stands for.': [
    'claude-sonnet-5-5',
    'deepseek-chat',
    'deepseek-reasoner',
    'deepseek/deepseek-chat',
    'deepseek/deepseek-reasoner',
    'deepseek/deepseek-v3.2',
    'gemini-3.8-flash-cyber',
    'mistral/codestral-latest',
    'mistral/devstral-small-latest',
    'mistral/magistral-medium-latest',
    'mistral/magistral-small-latest',
    'mistral/mistral-large-latest',
    'mistral/mistral-medium',
    'mistral/mistral-small-latest',
    'mistral/mistral-tiny',
    'mistral/open-mistral-nemo',
    'mistral/pixtral-large-latest',
    'xai/grok-4.20-multi-agent',
    'xai/grok-code-fast',
    'xai/grok-code-fast-1',
    'xai/grok-code-fast-1-0825',
  ],
};

function genaiMicros(model: string, providerId: string, time: string): number | undefined {
  const usage = { input_tokens: 10_000, cache_read_tokens: 4_000, output_tokens: 1_000 };
  const price = calcPrice(usage, model, { providerId, timestamp: new Date(time) });
  return price === null ? undefined : Math.round(price.total_price * 1_000_000);
}

describe('the prices of genai-prices, which other people maintain', () => {
  it('equal those of the table for all models that both have, but for the listed ones', () => {
    const models = TABLE.rows.flatMap(({ id, provider, source }) =>
      source === 'litellm' && PROVIDERS.has(provider) ? [[id, PROVIDERS.get(provider)!] as const] : [],
    );
    let shared = 0;
    const different: string[] = [];
    for (const [id, providerId] of new Map(models)) {
      const theirs = genaiMicros(id.slice(id.lastIndexOf('/') + 1), providerId, NEWEST);
      if (theirs === undefined) continue;
      shared += 1;
      if (micros(id, USUAL, { timeMs: Date.parse(NEWEST) }) !== theirs) different.push(id);
    }
    expect(different.toSorted()).toEqual(Object.values(OTHERWISE).flat().toSorted());
    expect(shared).toBeGreaterThan(250);
  });

  it.each([
    ['o3', 'openai', '2025-06-10'],
    ['gpt-5.6-luna', 'openai', '2026-07-30'],
    ['gpt-5.6-sol', 'openai', '2026-08-21'],
    ['gpt-5.6-terra', 'openai', '2026-07-30'],
    ['ministral-8b-latest', 'mistral', '2025-12-02'],
    ['mistral-medium-latest', 'mistral', '2026-06-16'],
    ['voxtral-small-latest', 'mistral', '2026-08-11'],
  ])('equal those of %s at %s before and after %s', (model, providerId, day) => {
    const before = new Date(Date.parse(day) - 1).toISOString();
    const at = (time: string) => micros(model, USUAL, { provider: providerId, timeMs: Date.parse(time) });
    expect(at(before)).toBe(genaiMicros(model, providerId, before));
    expect(at(day)).toBe(genaiMicros(model, providerId, day));
    expect(at(day)).not.toBe(at(before));
  });
});
