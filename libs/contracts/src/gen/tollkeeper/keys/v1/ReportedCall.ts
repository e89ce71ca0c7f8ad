// Original file: tollkeeper/keys/v1/keys.proto

import type { ReadFact as _tollkeeper_keys_v1_ReadFact, ReadFact__Output as _tollkeeper_keys_v1_ReadFact__Output } from '../../../tollkeeper/keys/v1/ReadFact.ts';
import type { Long } from '@grpc/proto-loader';

/**
 * A call as it was understood.
 */
export interface ReportedCall {
  /**
   * `settled`, `unpriced`, `no_usage`, `client_gone` or `failed`.
   */
  'outcome'?: (string);
  'agentId'?: (string);
  /**
   * USD micros; absent if no cost and no price is known.
   */
  'amountMicros'?: (number | string | Long);
  /**
   * `sender`, `override` or `table`; empty without an amount.
   */
  'pricedBy'?: (string);
  /**
   * What was read, at most 64.
   */
  'facts'?: (_tollkeeper_keys_v1_ReadFact)[];
  '_amountMicros'?: "amountMicros";
}

/**
 * A call as it was understood.
 */
export interface ReportedCall__Output {
  /**
   * `settled`, `unpriced`, `no_usage`, `client_gone` or `failed`.
   */
  'outcome': (string);
  'agentId': (string);
  /**
   * USD micros; absent if no cost and no price is known.
   */
  'amountMicros'?: (number);
  /**
   * `sender`, `override` or `table`; empty without an amount.
   */
  'pricedBy': (string);
  /**
   * What was read, at most 64.
   */
  'facts': (_tollkeeper_keys_v1_ReadFact__Output)[];
  '_amountMicros'?: "amountMicros";
}
