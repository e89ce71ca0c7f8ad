// Original file: tollkeeper/enforcer/v1/enforcer.proto

import type { LimitScope as _tollkeeper_enforcer_v1_LimitScope, LimitScope__Output as _tollkeeper_enforcer_v1_LimitScope__Output } from '../../../tollkeeper/enforcer/v1/LimitScope.ts';
import type { Timestamp as _google_protobuf_Timestamp, Timestamp__Output as _google_protobuf_Timestamp__Output } from '../../../google/protobuf/Timestamp.ts';
import type { LimitPeriod as _tollkeeper_enforcer_v1_LimitPeriod, LimitPeriod__Output as _tollkeeper_enforcer_v1_LimitPeriod__Output } from '../../../tollkeeper/enforcer/v1/LimitPeriod.ts';
import type { Long } from '@grpc/proto-loader';

/**
 * A limit in its running period.
 */
export interface LimitStatus {
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
  /**
   * What may still be reserved, never below 0.
   */
  'remainingMicros'?: (number | string | Long);
  /**
   * When the period ends; for a rolling one, when its oldest spend leaves it.
   */
  'resetsAt'?: (_google_protobuf_Timestamp | null);
  'budgetId'?: (string);
  'budgetName'?: (string);
  /**
   * The value that the limit is for, if the budget has a limit for each value.
   */
  'value'?: (string);
  'limitMicros'?: (number | string | Long);
  'period'?: (_tollkeeper_enforcer_v1_LimitPeriod | null);
  /**
   * Whether spend from before the budget was made or changed is not fully counted yet.
   */
  'isFilling'?: (boolean);
  /**
   * What raises in force add to the limit, in USD micros, and when the first of them ends. Not set without any.
   */
  'raisedMicros'?: (number | string | Long);
  'raisedUntil'?: (_google_protobuf_Timestamp | null);
  '_value'?: "value";
  '_raisedMicros'?: "raisedMicros";
}

/**
 * A limit in its running period.
 */
export interface LimitStatus__Output {
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
  /**
   * What may still be reserved, never below 0.
   */
  'remainingMicros': (number);
  /**
   * When the period ends; for a rolling one, when its oldest spend leaves it.
   */
  'resetsAt': (_google_protobuf_Timestamp__Output | null);
  'budgetId': (string);
  'budgetName': (string);
  /**
   * The value that the limit is for, if the budget has a limit for each value.
   */
  'value'?: (string);
  'limitMicros': (number);
  'period': (_tollkeeper_enforcer_v1_LimitPeriod__Output | null);
  /**
   * Whether spend from before the budget was made or changed is not fully counted yet.
   */
  'isFilling': (boolean);
  /**
   * What raises in force add to the limit, in USD micros, and when the first of them ends. Not set without any.
   */
  'raisedMicros'?: (number);
  'raisedUntil': (_google_protobuf_Timestamp__Output | null);
  '_value'?: "value";
  '_raisedMicros'?: "raisedMicros";
}
