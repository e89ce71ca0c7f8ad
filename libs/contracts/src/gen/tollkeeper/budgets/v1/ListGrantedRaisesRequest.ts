// Original file: tollkeeper/budgets/v1/budgets.proto

import type { Long } from '@grpc/proto-loader';

export interface ListGrantedRaisesRequest {
  'tenantId'?: (string);
  /**
   * Epoch milliseconds. The end is exclusive.
   */
  'from'?: (number | string | Long);
  'until'?: (number | string | Long);
  /**
   * Maximum number of raises in the answer, 1 to 100.
   */
  'max'?: (number);
}

export interface ListGrantedRaisesRequest__Output {
  'tenantId': (string);
  /**
   * Epoch milliseconds. The end is exclusive.
   */
  'from': (number);
  'until': (number);
  /**
   * Maximum number of raises in the answer, 1 to 100.
   */
  'max': (number);
}
