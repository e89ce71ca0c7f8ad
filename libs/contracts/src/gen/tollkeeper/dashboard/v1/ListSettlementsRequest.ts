// Original file: tollkeeper/dashboard/v1/dashboard.proto

import type { Long } from '@grpc/proto-loader';

export interface ListSettlementsRequest {
  'tenantId'?: (string);
  /**
   * Epoch milliseconds, not negative. `from` is before `until`, by at most 400 days. The same for all pages.
   */
  'from'?: (number | string | Long);
  'until'?: (number | string | Long);
  /**
   * `next_cursor` of the previous page; empty for the first page.
   */
  'cursor'?: (string);
}

export interface ListSettlementsRequest__Output {
  'tenantId': (string);
  /**
   * Epoch milliseconds, not negative. `from` is before `until`, by at most 400 days. The same for all pages.
   */
  'from': (number);
  'until': (number);
  /**
   * `next_cursor` of the previous page; empty for the first page.
   */
  'cursor': (string);
}
