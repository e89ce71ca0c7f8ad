// Original file: tollkeeper/budgets/v1/budgets.proto

import type { Long } from '@grpc/proto-loader';

/**
 * What the tokens of calls of a model cost, from `valid_from` until that of another price of the same provider and
 * model. Of two with the same `valid_from`, the later one in the list counts. In USD micros for a million tokens, 0 to
 * 10000000000. Without any price, the table of the release counts from then on.
 */
export interface Price {
  /**
   * `price_…`
   */
  'id'?: (string);
  /**
   * Not set for calls of any provider.
   */
  'provider'?: (string);
  'model'?: (string);
  /**
   * Epoch milliseconds.
   */
  'validFrom'?: (number | string | Long);
  'input'?: (number | string | Long);
  'cacheRead'?: (number | string | Long);
  'cacheWrite'?: (number | string | Long);
  /**
   * Of tokens that are written to a cache for an hour.
   */
  'cacheWriteHour'?: (number | string | Long);
  'output'?: (number | string | Long);
  'reasoning'?: (number | string | Long);
  '_provider'?: "provider";
  '_input'?: "input";
  '_cacheRead'?: "cacheRead";
  '_cacheWrite'?: "cacheWrite";
  '_cacheWriteHour'?: "cacheWriteHour";
  '_output'?: "output";
  '_reasoning'?: "reasoning";
}

/**
 * What the tokens of calls of a model cost, from `valid_from` until that of another price of the same provider and
 * model. Of two with the same `valid_from`, the later one in the list counts. In USD micros for a million tokens, 0 to
 * 10000000000. Without any price, the table of the release counts from then on.
 */
export interface Price__Output {
  /**
   * `price_…`
   */
  'id': (string);
  /**
   * Not set for calls of any provider.
   */
  'provider'?: (string);
  'model': (string);
  /**
   * Epoch milliseconds.
   */
  'validFrom': (number);
  'input'?: (number);
  'cacheRead'?: (number);
  'cacheWrite'?: (number);
  /**
   * Of tokens that are written to a cache for an hour.
   */
  'cacheWriteHour'?: (number);
  'output'?: (number);
  'reasoning'?: (number);
  '_provider'?: "provider";
  '_input'?: "input";
  '_cacheRead'?: "cacheRead";
  '_cacheWrite'?: "cacheWrite";
  '_cacheWriteHour'?: "cacheWriteHour";
  '_output'?: "output";
  '_reasoning'?: "reasoning";
}
