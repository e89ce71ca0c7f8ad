// Original file: tollkeeper/dashboard/v1/dashboard.proto

import type { Settlement as _tollkeeper_dashboard_v1_Settlement, Settlement__Output as _tollkeeper_dashboard_v1_Settlement__Output } from '../../../tollkeeper/dashboard/v1/Settlement.ts';
import type { Long } from '@grpc/proto-loader';

export interface ListSettlementsResponse {
  /**
   * About 400 and 3 MiB at most, in any order. A page may have none although others follow.
   */
  'settlements'?: (_tollkeeper_dashboard_v1_Settlement)[];
  /**
   * Empty after the last page.
   */
  'nextCursor'?: (string);
  /**
   * Epoch milliseconds: the settlements before this time are in this page or earlier ones.
   */
  'readUntil'?: (number | string | Long);
}

export interface ListSettlementsResponse__Output {
  /**
   * About 400 and 3 MiB at most, in any order. A page may have none although others follow.
   */
  'settlements': (_tollkeeper_dashboard_v1_Settlement__Output)[];
  /**
   * Empty after the last page.
   */
  'nextCursor': (string);
  /**
   * Epoch milliseconds: the settlements before this time are in this page or earlier ones.
   */
  'readUntil': (number);
}
