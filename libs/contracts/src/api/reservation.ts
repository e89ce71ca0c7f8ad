import { z } from 'zod';
import { micros } from './primitives.ts';

/** Shortest, longest and default time of a hold. */
export const RESERVATION_TTL_SECONDS = { min: 10, max: 3600, default: 600 } as const;

/** How long a reservation is held. */
export const ttlSeconds = z
  .int()
  .min(RESERVATION_TTL_SECONDS.min, `must be at least ${RESERVATION_TTL_SECONDS.min}`)
  .max(RESERVATION_TTL_SECONDS.max, `must be at most ${RESERVATION_TTL_SECONDS.max}`)
  .meta({ description: 'Seconds for which the amount is held; set more than the call takes', example: 600 });

/** The maximum cost of a call. */
export const reservedAmount = micros.meta({
  description: 'Maximum cost of the call in USD micros. Spend above it can exceed a limit',
});
