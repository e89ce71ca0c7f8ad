// Original file: tollkeeper/budgets/v1/budgets.proto

import type { Long } from '@grpc/proto-loader';

export interface GrantedRaise {
  'raiseId'?: (string);
  'budgetId'?: (string);
  /**
   * As it was at that time.
   */
  'budgetName'?: (string);
  /**
   * The value of `each` whose limit it is; not set for a budget without.
   */
  'value'?: (string);
  /**
   * In USD micros.
   */
  'extraMicros'?: (number | string | Long);
  /**
   * Names at that time.
   */
  'askedBy'?: (string);
  'grantedBy'?: (string);
  /**
   * Epoch milliseconds.
   */
  'grantedAt'?: (number | string | Long);
  /**
   * When it ends, or was ended.
   */
  'until'?: (number | string | Long);
  '_value'?: "value";
}

export interface GrantedRaise__Output {
  'raiseId': (string);
  'budgetId': (string);
  /**
   * As it was at that time.
   */
  'budgetName': (string);
  /**
   * The value of `each` whose limit it is; not set for a budget without.
   */
  'value'?: (string);
  /**
   * In USD micros.
   */
  'extraMicros': (number);
  /**
   * Names at that time.
   */
  'askedBy': (string);
  'grantedBy': (string);
  /**
   * Epoch milliseconds.
   */
  'grantedAt': (number);
  /**
   * When it ends, or was ended.
   */
  'until': (number);
  '_value'?: "value";
}
