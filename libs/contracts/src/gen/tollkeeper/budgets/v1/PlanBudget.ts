// Original file: tollkeeper/budgets/v1/budgets.proto

import type { Long } from '@grpc/proto-loader';

export interface PlanBudget {
  'planKey'?: (string);
  /**
   * In USD micros, 0 to 9007199254740991.
   */
  'dailyBudgetUsdMicros'?: (number | string | Long);
  /**
   * No call may be made under a plan that is not active.
   */
  'isActive'?: (boolean);
}

export interface PlanBudget__Output {
  'planKey': (string);
  /**
   * In USD micros, 0 to 9007199254740991.
   */
  'dailyBudgetUsdMicros': (number);
  /**
   * No call may be made under a plan that is not active.
   */
  'isActive': (boolean);
}
