import { z } from 'zod';

/** The setting of services that price calls. All must have the same file. */
export const priceFileFields = {
  PRICES_FILE: z
    .string()
    .min(1)
    .optional()
    .describe("file with prices that count before those of the release: a table, or LiteLLM's list; default none"),
};
