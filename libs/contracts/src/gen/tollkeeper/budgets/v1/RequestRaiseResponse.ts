// Original file: tollkeeper/budgets/v1/budgets.proto

import type { Long } from '@grpc/proto-loader';

export interface RequestRaiseResponse {
  /**
   * `rai_…`
   */
  'raiseId'?: (string);
  /**
   * `requested`, or what became of it: `active`, `declined`, `ended` or `expired`.
   */
  'state'?: (string);
  /**
   * What was granted, or is asked for.
   */
  'extraMicros'?: (number | string | Long);
  'until'?: (number | string | Long);
}

export interface RequestRaiseResponse__Output {
  /**
   * `rai_…`
   */
  'raiseId': (string);
  /**
   * `requested`, or what became of it: `active`, `declined`, `ended` or `expired`.
   */
  'state': (string);
  /**
   * What was granted, or is asked for.
   */
  'extraMicros': (number);
  'until': (number);
}
