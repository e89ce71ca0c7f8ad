// Original file: tollkeeper/budgets/v1/budgets.proto

import type { Long } from '@grpc/proto-loader';

export interface RequestRaiseRequest {
  'tenantId'?: (string);
  /**
   * The key that asks, which the caller has verified.
   */
  'keyId'?: (string);
  'requestId'?: (string);
  'budgetId'?: (string);
  'value'?: (string);
  'extraMicros'?: (number | string | Long);
  /**
   * Epoch milliseconds, at most 31 days ahead.
   */
  'until'?: (number | string | Long);
  /**
   * 1 to 200 printable characters.
   */
  'reason'?: (string);
  '_value'?: "value";
}

export interface RequestRaiseRequest__Output {
  'tenantId': (string);
  /**
   * The key that asks, which the caller has verified.
   */
  'keyId': (string);
  'requestId': (string);
  'budgetId': (string);
  'value'?: (string);
  'extraMicros': (number);
  /**
   * Epoch milliseconds, at most 31 days ahead.
   */
  'until': (number);
  /**
   * 1 to 200 printable characters.
   */
  'reason': (string);
  '_value'?: "value";
}
