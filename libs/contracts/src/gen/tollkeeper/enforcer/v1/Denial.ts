// Original file: tollkeeper/enforcer/v1/enforcer.proto

import type { LimitScope as _tollkeeper_enforcer_v1_LimitScope, LimitScope__Output as _tollkeeper_enforcer_v1_LimitScope__Output } from '../../../tollkeeper/enforcer/v1/LimitScope.ts';
import type { Timestamp as _google_protobuf_Timestamp, Timestamp__Output as _google_protobuf_Timestamp__Output } from '../../../google/protobuf/Timestamp.ts';
import type { Long } from '@grpc/proto-loader';

/**
 * The call may not spend. Of several limits, this is the one with the least remaining.
 */
export interface Denial {
  'scope'?: (_tollkeeper_enforcer_v1_LimitScope);
  /**
   * The id of the workspace, an `agent_id` or a `plan_key`.
   */
  'scopeId'?: (string);
  'dailyBudgetUsdMicros'?: (number | string | Long);
  /**
   * What was settled on the running day.
   */
  'spentMicros'?: (number | string | Long);
  /**
   * What open reservations hold.
   */
  'heldMicros'?: (number | string | Long);
  'requestedMicros'?: (number | string | Long);
  /**
   * When the day of the workspace ends.
   */
  'resetsAt'?: (_google_protobuf_Timestamp | null);
  /**
   * For a person: which limit it is, and what would let the call through.
   */
  'message'?: (string);
}

/**
 * The call may not spend. Of several limits, this is the one with the least remaining.
 */
export interface Denial__Output {
  'scope': (_tollkeeper_enforcer_v1_LimitScope__Output);
  /**
   * The id of the workspace, an `agent_id` or a `plan_key`.
   */
  'scopeId': (string);
  'dailyBudgetUsdMicros': (string);
  /**
   * What was settled on the running day.
   */
  'spentMicros': (string);
  /**
   * What open reservations hold.
   */
  'heldMicros': (string);
  'requestedMicros': (string);
  /**
   * When the day of the workspace ends.
   */
  'resetsAt': (_google_protobuf_Timestamp__Output | null);
  /**
   * For a person: which limit it is, and what would let the call through.
   */
  'message': (string);
}
