import type { Api } from '@tollkeeper/client';
import { count } from '../format/numbers.ts';

type Parts = Pick<
  Api.Settlement,
  'cache_read_tokens' | 'cache_write_tokens' | 'cache_write_1h_tokens' | 'reasoning_tokens'
>;
type Details = Parts & Pick<Api.Settlement, 'model' | 'input_tokens' | 'output_tokens' | 'priced_by'>;

const PRICED_BY: Readonly<Record<string, string>> = {
  sender: 'Gateway',
  override: 'Workspace price',
  table: 'Release price',
  reservation: 'Reservation',
  none: 'No price',
};
/** In a sentence. */
const PRICED_BY_LINE: typeof PRICED_BY = {
  sender: 'amount from the gateway',
  override: 'workspace price',
  table: 'release price',
  reservation: 'amount of the reservation',
  none: 'no price',
};

/** Single settlements. Loaded with their pages, to keep the first page small. */
export const settlement = {
  pricedBy: 'Price from',
  /** Later releases may have others. */
  source: (by: string): string => PRICED_BY[by] ?? by,
  /** "1,024 cache read, 128 reasoning"; empty without any. */
  parts({ cache_read_tokens, cache_write_tokens, cache_write_1h_tokens, reasoning_tokens }: Parts): string {
    const parts = {
      'cache read': cache_read_tokens,
      'cache write': cache_write_tokens,
      'cache write for an hour': cache_write_1h_tokens,
      reasoning: reasoning_tokens,
    };
    return Object.entries(parts)
      .flatMap(([name, tokens = 0]) => (tokens > 0 ? `${count(tokens)} ${name}` : []))
      .join(', ');
  },
  /** "gpt-4o, 1,200 tokens in, 345 out (1,024 cache read), release price"; empty without any of them. */
  details(call: Details): string {
    const { model, input_tokens: input = 0, output_tokens: output = 0, priced_by: by } = call;
    const parts = settlement.parts(call);
    const tokens = `${count(input)} tokens in, ${count(output)} out${parts && ` (${parts})`}`;
    return [model, input + output > 0 ? tokens : undefined, by && (PRICED_BY_LINE[by] ?? by)]
      .filter((detail) => detail !== undefined && detail !== '')
      .join(', ');
  },
};
