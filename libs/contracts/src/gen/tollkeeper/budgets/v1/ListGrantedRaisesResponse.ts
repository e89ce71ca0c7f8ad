// Original file: tollkeeper/budgets/v1/budgets.proto

import type { GrantedRaise as _tollkeeper_budgets_v1_GrantedRaise, GrantedRaise__Output as _tollkeeper_budgets_v1_GrantedRaise__Output } from '../../../tollkeeper/budgets/v1/GrantedRaise.ts';
import type { Long } from '@grpc/proto-loader';

export interface ListGrantedRaisesResponse {
  /**
   * At most `max`.
   */
  'raises'?: (_tollkeeper_budgets_v1_GrantedRaise)[];
  /**
   * Number and sum of all raises that were granted in the span.
   */
  'count'?: (number);
  /**
   * In USD micros, at most 9007199254740991.
   */
  'extraMicros'?: (number | string | Long);
}

export interface ListGrantedRaisesResponse__Output {
  /**
   * At most `max`.
   */
  'raises': (_tollkeeper_budgets_v1_GrantedRaise__Output)[];
  /**
   * Number and sum of all raises that were granted in the span.
   */
  'count': (number);
  /**
   * In USD micros, at most 9007199254740991.
   */
  'extraMicros': (number);
}
