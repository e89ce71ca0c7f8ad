// Original file: tollkeeper/enforcer/v1/enforcer.proto

import type { Timestamp as _google_protobuf_Timestamp, Timestamp__Output as _google_protobuf_Timestamp__Output } from '../../../google/protobuf/Timestamp.ts';

/**
 * The period of a budget.
 */
export interface LimitPeriod {
  /**
   * `day` for daily budgets, or `hour`, `week`, `month`, `quarter`, `year`, `once` or `rolling`.
   */
  'kind'?: (string);
  'start'?: (_google_protobuf_Timestamp | null);
  'end'?: (_google_protobuf_Timestamp | null);
}

/**
 * The period of a budget.
 */
export interface LimitPeriod__Output {
  /**
   * `day` for daily budgets, or `hour`, `week`, `month`, `quarter`, `year`, `once` or `rolling`.
   */
  'kind': (string);
  'start': (_google_protobuf_Timestamp__Output | null);
  'end': (_google_protobuf_Timestamp__Output | null);
}
