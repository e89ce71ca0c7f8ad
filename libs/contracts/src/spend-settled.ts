import { MAX_MICROS, PRICE_ID } from '@tollkeeper/kernel';
import { z } from 'zod';
import { labels } from './api/labels.ts';
import { boundedText, identifier, micros, planKey } from './api/primitives.ts';

/** Identifies the settlement of a call, whether by an event or by a call of the enforcer. */
export const settlementId = identifier.meta({
  description: 'Counts once in a workspace, however many events carry it',
});
export const modelName = boundedText(128);
export const providerName = boundedText(128);
/** Identifies a price of the table or of a workspace. */
export const priceId = z
  .string()
  .regex(PRICE_ID, 'must be 1 to 128 characters of A-Z a-z 0-9 . _ : @ / -')
  .meta({ description: 'The price by which the amount was computed', example: 'mistral/mistral-large-latest' });
/** A service tier of a provider, such as `batch`. */
export const serviceTier = boundedText(64);
export const tokens = z.int().min(0, 'must not be negative').meta({ description: 'Number of tokens' });

const kind = (description: string) => tokens.optional().meta({ description });

/** The tokens of a call by kind. A kind that is left out has none. */
export const tokenKinds = z
  .strictObject({
    input: kind('Tokens of the input that were neither read from a cache nor written to one'),
    cache_read: kind('Tokens of the input that were read from a cache'),
    cache_write: kind('Tokens of the input that were written to a cache for its usual time'),
    cache_write_1h: kind('Tokens of the input that were written to a cache for an hour'),
    output: kind('Tokens of the output'),
    reasoning: kind('Tokens of the output that the model used to reason'),
  })
  .meta({
    description: 'Tokens by kind: no token is in two of them, but those of `reasoning` are in `output` as well',
    example: { input: 176, cache_read: 1024, output: 345, reasoning: 128 },
  });

/**
 * Who says what a call cost: its sender, the workspace's own price, the price table, or nobody, so that the amount is
 * 0. `reservation`: the call was answered without usage, so the amount is what was reserved for it.
 */
export const PRICED_BY = ['sender', 'override', 'table', 'reservation', 'none'] as const;

/** `late`: older than 3 days when it was reported. */
const CALL_FLAGS = ['usage_inferred', 'sampled', 'late'] as const;
export type CallFlag = (typeof CALL_FLAGS)[number];

const ONCE_EACH = `must name each of ${CALL_FLAGS.join(', ')} at most once`;

export const spendSettledData = z
  .strictObject({
    settlement_id: settlementId,
    run_id: identifier,
    agent_id: identifier,
    amount_micros: micros,
    plan_key: planKey.optional(),
    model: modelName.optional(),
    provider: providerName.optional(),
    input_tokens: tokens.optional().meta({ description: 'All tokens of the input. Absent: those of `tokens`' }),
    output_tokens: tokens.optional().meta({ description: 'All tokens of the output. Absent: those of `tokens`' }),
    reservation_id: identifier
      .optional()
      .meta({ description: 'The reservation that this settles, if there is one; of a call by a lease, the lease' }),
    lease_id: identifier.optional().meta({
      description: 'The lease from which this is settled, if there is one. A `reservation_id` comes first',
    }),
    labels: labels.optional(),
    request_id: identifier.optional().meta({
      description:
        'The `request_id` of the reservation that this settles, if it was granted within 24 hours before. For gateways that do not know the `reservation_id`, which comes first',
    }),
    tokens: tokenKinds.optional(),
    priced_by: z.enum(PRICED_BY).optional().meta({
      description:
        'Who says what the call cost: its sender, the workspace, the price table, its reservation, or nobody',
    }),
    price_id: priceId.optional(),
    price_version: identifier.optional().meta({ description: 'The version of the price table that has the price' }),
    sender_amount: z
      .string()
      .regex(
        /^\d{1,40}(\.\d{1,40})?([eE][+-]?\d{1,3})?$/,
        'must be a decimal number of US dollars, such as 0.00517, with at most 40 digits before and after the point',
      )
      .optional()
      .meta({ description: 'What the sender says that the call cost, in US dollars, as sent', example: '0.00517' }),
    service_tier: serviceTier.optional().meta({
      description: 'The service tier, such as `batch`, if it is not the usual one. At most 64 bytes in UTF-8',
      example: 'batch',
    }),
    response_model: modelName.optional().meta({ description: 'The model that answered. At most 128 bytes in UTF-8' }),
    request_model: modelName
      .optional()
      .meta({ description: 'The model that the request named. At most 128 bytes in UTF-8' }),
    flags: z
      .array(z.enum(CALL_FLAGS))
      .refine((flags) => new Set(flags).size === flags.length, ONCE_EACH)
      .optional()
      .meta({
        description:
          '`usage_inferred`: the reported tokens contradicted each other. `sampled`: the sender reports only a part of its calls. `late`: the call was older than 3 days',
        uniqueItems: true,
      }),
  })
  .check((ctx) => {
    const { issues, value } = ctx;
    // Sums of wrong numbers say nothing.
    if (value.tokens === undefined || issues.length > 0) return;
    const { input = 0, cache_read = 0, cache_write = 0, cache_write_1h = 0, output = 0, reasoning = 0 } = value.tokens;
    const refuse = (path: string[], message: string) =>
      void issues.push({ code: 'custom', input: value, path, message });
    const inputTokens = input + cache_read + cache_write + cache_write_1h;
    if (inputTokens > MAX_MICROS) {
      return refuse(['tokens'], `must have at most ${MAX_MICROS} tokens of input, cached or not, together`);
    }
    if (reasoning > output) return refuse(['tokens', 'reasoning'], 'must be at most tokens.output, which includes it');
    value.input_tokens ??= inputTokens;
    value.output_tokens ??= output;
    if (value.input_tokens !== inputTokens) {
      const sum = 'the sum of input, cache_read, cache_write and cache_write_1h of tokens';
      refuse(['input_tokens'], `must be absent or ${inputTokens}, ${sum}`);
    }
    if (value.output_tokens !== output) refuse(['output_tokens'], `must be absent or ${output}, as tokens.output is`);
  });
