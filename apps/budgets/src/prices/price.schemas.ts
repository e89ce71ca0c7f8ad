import { modelName, moment, priceId, providerName, timestamp } from '@tollkeeper/contracts';
import { REPORTED_KINDS, type ReportedKind } from '@tollkeeper/prices';
import { z } from 'zod';
import {
  FIELD_OF_KIND,
  type ListedPrice,
  MAX_MICROS_PER_MILLION,
  type MicrosPerMillion,
  type PriceDraft,
} from './price.ts';
import type { TablePrice } from './table.list.ts';

export const PRICE_SOURCES = ['override', 'table'] as const;
const TIERS = ['default', 'batch', 'priority', 'flex'] as const;

const perMillion = (of: string) =>
  z
    .int()
    .min(0, 'must not be negative')
    .max(MAX_MICROS_PER_MILLION, `must be at most ${MAX_MICROS_PER_MILLION}, 10,000 USD for a million tokens`)
    .meta({ description: `USD micros for a million tokens ${of}`, example: 2_500_000 });

const amounts = {
  input_micros_per_million: perMillion('of the input that are neither read from a cache nor written to one'),
  output_micros_per_million: perMillion('of the output'),
  cached_input_micros_per_million: perMillion('that are read from a cache; if not set, as input'),
  cache_write_micros_per_million: perMillion('that are written to a cache; if not set, as input'),
  cache_write_1h_micros_per_million: perMillion('that are written to a cache for an hour; if not set, as other writes'),
  reasoning_micros_per_million: perMillion('of the output with which the model reasons; if not set, as output'),
} satisfies Record<(typeof FIELD_OF_KIND)[ReportedKind], z.ZodType>;

const provider = providerName.nullable().meta({
  description: 'Only calls of this provider have the price. Null for calls of any provider. At most 128 bytes in UTF-8',
  example: 'azure',
});
const model = modelName.meta({
  description: 'As gateways report it, in any case, with or without the date at its end. At most 128 bytes in UTF-8',
  example: 'gpt-4o',
});

export const priceBody = z
  .strictObject({
    provider: provider.default(null),
    model,
    valid_from: timestamp.meta({ description: 'Calls from then on have the price; also in the past' }),
    ends: z.boolean().default(false).meta({
      description: 'From `valid_from` on, calls have the price of the table again. Then the body has no prices',
    }),
    ...z.object(amounts).partial().shape,
  })
  .check(({ issues, value }) => {
    const fields = Object.values(FIELD_OF_KIND).filter((field) => value[field] !== undefined);
    const refuse = (field: string, message: string) =>
      void issues.push({ code: 'custom', input: value, path: [field], message });
    if (value.ends && fields[0] !== undefined) {
      refuse(fields[0], 'must be absent with ends; to set a price, leave out ends');
    }
    if (!value.ends && fields[0] === undefined) {
      const message =
        'must be set, or the price of another kind of tokens; 0 is free. With ends, the price of the table counts again';
      refuse(FIELD_OF_KIND.input, message);
    }
  });

export const priceRecord = z
  .object({
    id: priceId.meta({
      description: 'The `price_id` of the calls with this price. Prices of a model in the table share it',
    }),
    source: z.enum(PRICE_SOURCES).meta({ description: '`override`: set in the workspace. `table`: of the release' }),
    provider,
    model,
    names: z.array(z.string()).meta({ description: 'The names of models that have the price' }),
    tier: z.enum(TIERS).meta({ description: 'The service tier of the calls. `default` of an override: all tiers' }),
    above_tokens: z.int().nullable().meta({ description: 'Only calls with more tokens of input have the price' }),
    valid_from: moment.nullable().meta({ description: 'Null: as long as the model exists' }),
    valid_to: moment.nullable().meta({
      description: 'Until then, exclusive. Null: still. As `valid_from`: never, because it was corrected',
    }),
    ends: z.boolean().meta({ description: 'Whether it only ends the price before it' }),
    input_micros_per_million: amounts.input_micros_per_million.nullable(),
    output_micros_per_million: amounts.output_micros_per_million.nullable(),
    cached_input_micros_per_million: amounts.cached_input_micros_per_million.nullable(),
    cache_write_micros_per_million: amounts.cache_write_micros_per_million.nullable(),
    cache_write_1h_micros_per_million: amounts.cache_write_1h_micros_per_million.nullable(),
    reasoning_micros_per_million: amounts.reasoning_micros_per_million.nullable(),
    created_at: moment.nullable().meta({ description: 'When it was set. Null for the table' }),
    created_by: z.string().nullable().meta({ description: 'Id of the user who set it. Null for the table' }),
  })
  .meta({ id: 'Price' });

export function toDraft({ provider, model, valid_from, ...fields }: z.output<typeof priceBody>): PriceDraft {
  const microsPerMillion = Object.fromEntries(
    REPORTED_KINDS.flatMap((kind) => {
      const micros = fields[FIELD_OF_KIND[kind]];
      return micros === undefined ? [] : [[kind, micros]];
    }),
  );
  return { provider, model, validFrom: new Date(valid_from), microsPerMillion };
}

export function toOverrideRecord(price: ListedPrice): z.infer<typeof priceRecord> {
  const { id, provider, model, validFrom, validTo, microsPerMillion, createdAt, createdBy } = price;
  return {
    ...{ id, source: 'override', provider, model, names: [model], tier: 'default', above_tokens: null },
    valid_from: validFrom.toISOString(),
    valid_to: validTo && validTo.toISOString(),
    ends: Object.keys(microsPerMillion).length === 0,
    ...toAmounts(microsPerMillion),
    created_at: createdAt.toISOString(),
    created_by: createdBy,
  };
}

export function toTableRecord(price: TablePrice): z.infer<typeof priceRecord> {
  const { id, provider, names, tier, aboveTokens, validFrom, validTo, microsPerMillion } = price;
  return {
    ...{ id, source: 'table', provider, model: names[0]!, names: [...names], tier, above_tokens: aboveTokens },
    valid_from: validFrom && validFrom.toISOString(),
    valid_to: validTo && validTo.toISOString(),
    ends: false,
    ...toAmounts(microsPerMillion),
    ...{ created_at: null, created_by: null },
  };
}

function toAmounts(prices: MicrosPerMillion) {
  return {
    input_micros_per_million: prices.input ?? null,
    output_micros_per_million: prices.output ?? null,
    cached_input_micros_per_million: prices.cache_read ?? null,
    cache_write_micros_per_million: prices.cache_write ?? null,
    cache_write_1h_micros_per_million: prices.cache_write_1h ?? null,
    reasoning_micros_per_million: prices.reasoning ?? null,
  };
}
