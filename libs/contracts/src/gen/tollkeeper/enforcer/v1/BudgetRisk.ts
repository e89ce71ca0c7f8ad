// Original file: tollkeeper/enforcer/v1/enforcer.proto

import type { LimitStatus as _tollkeeper_enforcer_v1_LimitStatus, LimitStatus__Output as _tollkeeper_enforcer_v1_LimitStatus__Output } from '../../../tollkeeper/enforcer/v1/LimitStatus.ts';
import type { Long } from '@grpc/proto-loader';

/**
 * A budget, and whether it will last.
 */
export interface BudgetRisk {
  /**
   * For a budget with a limit for each value, the one that is most at risk.
   */
  'limit'?: (_tollkeeper_enforcer_v1_LimitStatus | null);
  /**
   * What will be spent at the end of the period at the pace of its elapsed part, in USD micros. Not set before 5% of
   * the period have elapsed, and for rolling periods.
   */
  'paceEndMicros'?: (number | string | Long);
  /**
   * Whether 80% of the limit without raises are spent, or it will be exceeded at this pace.
   */
  'isAtRisk'?: (boolean);
  '_paceEndMicros'?: "paceEndMicros";
}

/**
 * A budget, and whether it will last.
 */
export interface BudgetRisk__Output {
  /**
   * For a budget with a limit for each value, the one that is most at risk.
   */
  'limit': (_tollkeeper_enforcer_v1_LimitStatus__Output | null);
  /**
   * What will be spent at the end of the period at the pace of its elapsed part, in USD micros. Not set before 5% of
   * the period have elapsed, and for rolling periods.
   */
  'paceEndMicros'?: (number);
  /**
   * Whether 80% of the limit without raises are spent, or it will be exceeded at this pace.
   */
  'isAtRisk': (boolean);
  '_paceEndMicros'?: "paceEndMicros";
}
