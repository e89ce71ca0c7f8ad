// Original file: tollkeeper/enforcer/v1/enforcer.proto

import type { LimitScope as _tollkeeper_enforcer_v1_LimitScope, LimitScope__Output as _tollkeeper_enforcer_v1_LimitScope__Output } from '../../../tollkeeper/enforcer/v1/LimitScope.ts';
import type { Timestamp as _google_protobuf_Timestamp, Timestamp__Output as _google_protobuf_Timestamp__Output } from '../../../google/protobuf/Timestamp.ts';
import type { LimitPeriod as _tollkeeper_enforcer_v1_LimitPeriod, LimitPeriod__Output as _tollkeeper_enforcer_v1_LimitPeriod__Output } from '../../../tollkeeper/enforcer/v1/LimitPeriod.ts';
import type { Long } from '@grpc/proto-loader';

/**
 * The call may not spend. Of several limits, this is the one with the least remaining. A pause denies as a limit of 0
 * does: `scope` is the agent, or the workspace if a key or a label is paused, and the period is that of the pause.
 */
export interface Denial {
  'scope'?: (_tollkeeper_enforcer_v1_LimitScope);
  /**
   * The id of the workspace, an `agent_id`, a `plan_key` or the id of a budget.
   */
  'scopeId'?: (string);
  /**
   * The limit, also if the budget is for another period.
   */
  'dailyBudgetUsdMicros'?: (number | string | Long);
  /**
   * What was settled in the running period.
   */
  'spentMicros'?: (number | string | Long);
  /**
   * What open reservations hold.
   */
  'heldMicros'?: (number | string | Long);
  'requestedMicros'?: (number | string | Long);
  /**
   * When the period ends; for a rolling one, when its oldest spend leaves it.
   */
  'resetsAt'?: (_google_protobuf_Timestamp | null);
  /**
   * For a person: which limit it is, and what would let the call through.
   */
  'message'?: (string);
  'budgetId'?: (string);
  'budgetName'?: (string);
  /**
   * The value that the limit is for, if the budget has a limit for each value.
   */
  'value'?: (string);
  'limitMicros'?: (number | string | Long);
  'period'?: (_tollkeeper_enforcer_v1_LimitPeriod | null);
  /**
   * `budget_exceeded` or `paused`.
   */
  'code'?: (string);
  /**
   * If the calls are paused: the id of the pause, and why they are.
   */
  'pauseId'?: (string);
  'pauseReason'?: (string);
  /**
   * As in LimitStatus.
   */
  'raisedMicros'?: (number | string | Long);
  'raisedUntil'?: (_google_protobuf_Timestamp | null);
  '_value'?: "value";
  '_pauseId'?: "pauseId";
  '_pauseReason'?: "pauseReason";
  '_raisedMicros'?: "raisedMicros";
}

/**
 * The call may not spend. Of several limits, this is the one with the least remaining. A pause denies as a limit of 0
 * does: `scope` is the agent, or the workspace if a key or a label is paused, and the period is that of the pause.
 */
export interface Denial__Output {
  'scope': (_tollkeeper_enforcer_v1_LimitScope__Output);
  /**
   * The id of the workspace, an `agent_id`, a `plan_key` or the id of a budget.
   */
  'scopeId': (string);
  /**
   * The limit, also if the budget is for another period.
   */
  'dailyBudgetUsdMicros': (number);
  /**
   * What was settled in the running period.
   */
  'spentMicros': (number);
  /**
   * What open reservations hold.
   */
  'heldMicros': (number);
  'requestedMicros': (number);
  /**
   * When the period ends; for a rolling one, when its oldest spend leaves it.
   */
  'resetsAt': (_google_protobuf_Timestamp__Output | null);
  /**
   * For a person: which limit it is, and what would let the call through.
   */
  'message': (string);
  'budgetId': (string);
  'budgetName': (string);
  /**
   * The value that the limit is for, if the budget has a limit for each value.
   */
  'value'?: (string);
  'limitMicros': (number);
  'period': (_tollkeeper_enforcer_v1_LimitPeriod__Output | null);
  /**
   * `budget_exceeded` or `paused`.
   */
  'code': (string);
  /**
   * If the calls are paused: the id of the pause, and why they are.
   */
  'pauseId'?: (string);
  'pauseReason'?: (string);
  /**
   * As in LimitStatus.
   */
  'raisedMicros'?: (number);
  'raisedUntil': (_google_protobuf_Timestamp__Output | null);
  '_value'?: "value";
  '_pauseId'?: "pauseId";
  '_pauseReason'?: "pauseReason";
  '_raisedMicros'?: "raisedMicros";
}
