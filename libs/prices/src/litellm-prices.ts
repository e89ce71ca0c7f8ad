import type { PriceKind, PriceTier } from './price-table.ts';

/** One price of a model, as a source of prices has it today. */
export interface SourcePrice {
  kind: PriceKind;
  tier: PriceTier;
  above_tokens?: number;
  micros_per_mtok: number;
}

/** All prices that a source has of a model today. */
export interface SourceModel {
  id: string;
  provider: string;
  prices: readonly SourcePrice[];
}

/** A file is not LiteLLM's list of prices. The message names the model and the field. */
export class LitellmFileError extends Error {}

const KINDS: Readonly<Record<string, PriceKind>> = {
  input_cost_per_token: 'input',
  cache_read_input_token_cost: 'cache_read',
  cache_creation_input_token_cost: 'cache_write',
  cache_creation_input_token_cost_above_1hr: 'cache_write_1h',
  output_cost_per_token: 'output',
  output_cost_per_reasoning_token: 'reasoning',
  input_cost_per_audio_token: 'audio_in',
  output_cost_per_audio_token: 'audio_out',
};
const TIERS: Readonly<Record<string, PriceTier>> = { batches: 'batch', priority: 'priority', flex: 'flex' };
/** The kind, a threshold in thousands of tokens, and the tier: as in `input_cost_per_token_above_200k_tokens_flex`. */
const FIELD = new RegExp(
  `^(${Object.keys(KINDS).join('|')})(?:_above_(\\d+)k_tokens)?(?:_(${Object.keys(TIERS).join('|')}))?$`,
);

/**
 * The models in LiteLLM's `model_prices_and_context_window.json` that have a price for tokens. Those where all prices
 * are 0 are left out: LiteLLM writes 0 also where it knows no price. Other prices, such as for images, are not read.
 * Throws `LitellmFileError`.
 */
export function readLitellmPrices(text: string): SourceModel[] {
  const file: unknown = JSON.parse(text);
  if (!isObject(file)) throw new LitellmFileError('The file must be an object with an entry for each model.');
  return Object.entries(file).flatMap(([id, entry]) => {
    if (!isObject(entry)) throw new LitellmFileError(`${id}: must be an object`);
    const prices = [...pricesIn(id, entry), ...rangesIn(id, entry)];
    if (prices.every(({ micros_per_mtok }) => micros_per_mtok === 0)) return [];
    const provider = entry['litellm_provider'];
    if (typeof provider !== 'string') throw new LitellmFileError(`${id}: litellm_provider: must be a text`);
    return [{ id, provider, prices }];
  });
}

function pricesIn(id: string, fields: Record<string, unknown>, aboveTokens?: number): SourcePrice[] {
  return Object.entries(fields).flatMap(([field, value]) => {
    const [, kind, thousands, tier] = FIELD.exec(field) ?? [];
    if (kind === undefined) return [];
    const above = thousands === undefined ? aboveTokens : Number(thousands) * 1000;
    return {
      kind: KINDS[kind]!,
      tier: tier === undefined ? 'default' : TIERS[tier]!,
      ...(above !== undefined && { above_tokens: above }),
      micros_per_mtok: microsPerMillion(value, `${id}: ${field}`),
    };
  });
}

/** Prices by ranges of the input: `tiered_pricing: [{range: [32000, 128000], input_cost_per_token: …}]`. */
function rangesIn(id: string, { tiered_pricing: ranges = [] }: Record<string, unknown>): SourcePrice[] {
  if (!Array.isArray(ranges)) throw new LitellmFileError(`${id}: tiered_pricing: must be a list`);
  return ranges.flatMap((entry: unknown) => {
    if (!isObject(entry)) throw new LitellmFileError(`${id}: tiered_pricing: must be a list of objects`);
    const [from] = Array.isArray(entry['range']) ? (entry['range'] as unknown[]) : [];
    // Some ranges count something else, such as results of a search.
    if (from === undefined) return [];
    if (!Number.isSafeInteger(from)) throw new LitellmFileError(`${id}: tiered_pricing.range: must begin at a number`);
    return pricesIn(id, entry, from === 0 ? undefined : (from as number));
  });
}

/** USD per token have a little noise of floating point: the price in whole micros per million is meant. */
function microsPerMillion(value: unknown, place: string): number {
  const micros = typeof value === 'number' ? value * 1e12 : NaN;
  const whole = Math.round(micros);
  if (whole >= 0 && Math.abs(micros - whole) < 0.001) return whole;
  throw new LitellmFileError(`${place}: must be USD per token, in whole millionths of a micro: ${String(value)}`);
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
