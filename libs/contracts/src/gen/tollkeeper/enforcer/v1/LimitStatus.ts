// Original file: tollkeeper/enforcer/v1/enforcer.proto

import type { LimitScope as _tollkeeper_enforcer_v1_LimitScope, LimitScope__Output as _tollkeeper_enforcer_v1_LimitScope__Output } from '../../../tollkeeper/enforcer/v1/LimitScope.ts';
import type { Timestamp as _google_protobuf_Timestamp, Timestamp__Output as _google_protobuf_Timestamp__Output } from '../../../google/protobuf/Timestamp.ts';
import type { Long } from '@grpc/proto-loader';

/**
 * A daily budget on the running day of the workspace.
 */
export interface LimitStatus {
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
  /**
   * What may still be reserved, never below 0.
   */
  'remainingMicros'?: (number | string | Long);
  /**
   * When the day of the workspace ends.
   */
  'resetsAt'?: (_google_protobuf_Timestamp | null);
}

/**
 * A daily budget on the running day of the workspace.
 */
export interface LimitStatus__Output {
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
  /**
   * What may still be reserved, never below 0.
   */
  'remainingMicros': (string);
  /**
   * When the day of the workspace ends.
   */
  'resetsAt': (_google_protobuf_Timestamp__Output | null);
}
