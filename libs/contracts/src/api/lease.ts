import { z } from 'zod';
import { micros } from './primitives.ts';

/** Shortest, longest and default time of a lease from its grant or its renewal on. */
export const LEASE_TTL_SECONDS = { min: 10, max: 600, default: 60 } as const;

/** Maximum number of settlements in one request. */
export const MAX_LEASE_SETTLEMENTS = 1000;

export const leaseTtlSeconds = z
  .int()
  .min(LEASE_TTL_SECONDS.min, `must be at least ${LEASE_TTL_SECONDS.min}`)
  .max(LEASE_TTL_SECONDS.max, `must be at most ${LEASE_TTL_SECONDS.max}`)
  .meta({ description: 'Seconds from now until the lease ends. It ends with its day at the latest', example: 60 });

export const leasedAmount = micros.meta({ description: 'USD micros that the gateway wishes for' });
export const leastLease = micros.meta({
  description: 'Maximum cost of the call at hand in USD micros: a smaller lease is of no use. At most `amount_micros`',
});

/** A lease that could not pay for the call at hand is refused as a request, not denied. */
export const MIN_ABOVE_AMOUNT = 'must be at most amount_micros';
