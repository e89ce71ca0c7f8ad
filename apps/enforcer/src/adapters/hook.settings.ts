import { micros, RESERVATION_TTL_SECONDS, ttlSeconds } from '@tollkeeper/contracts';
import { z } from 'zod';

/** A common limit of models. */
const DEFAULT_OUTPUT_TOKENS = 4_096;

const number = <S extends z.ZodType<number, number>>(schema: S) =>
  z.coerce.number('must be a number').pipe(schema).optional();

/** What the operator of a gateway can say about its calls, in the settings of the gateway. */
export const hookSettings = z.object({
  max_output_tokens: number(z.int().min(1).max(10_000_000)).meta({
    description: `Output that is reserved for a call without a limit of its own; default ${DEFAULT_OUTPUT_TOKENS}`,
  }),
  unpriced_micros: number(micros).meta({
    description: 'USD micros to reserve for a call of a model without a known price; default 50000',
  }),
  ttl_seconds: number(ttlSeconds).meta({
    description: `When a reservation expires; default ${RESERVATION_TTL_SECONDS.default}`,
  }),
});
export type HookSettings = z.output<typeof hookSettings>;

/** With the defaults. */
export function reserveBy({ max_output_tokens, unpriced_micros, ttl_seconds }: HookSettings) {
  return {
    outputTokens: max_output_tokens ?? DEFAULT_OUTPUT_TOKENS,
    unpricedMicros: unpriced_micros,
    ttlSeconds: ttl_seconds ?? RESERVATION_TTL_SECONDS.default,
  };
}
