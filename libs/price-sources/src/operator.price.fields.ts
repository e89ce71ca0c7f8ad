import { z } from 'zod';

/** The settings of services that price calls. All must have the same list. */
export const operatorPriceFields = {
  PRICES_FILE: z
    .string()
    .min(1)
    .optional()
    .describe("file with prices that count before those of the release: a table, or LiteLLM's list; default none"),
  PRICES_URL: z
    .url({ protocol: /^https$/, hostname: /^.+$/, error: 'must be an https:// URL' })
    .max(2_048)
    .refine((text) => !/^https:\/*[^/?#]*@/i.test(text), 'must not contain a user name or password')
    .optional()
    .describe('https:// URL of such a list, which is read once a day, instead of PRICES_FILE; default none'),
};

export type OperatorPriceConfig = z.infer<z.ZodObject<typeof operatorPriceFields>>;
