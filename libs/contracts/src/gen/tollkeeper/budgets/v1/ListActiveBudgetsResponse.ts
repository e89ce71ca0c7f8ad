// Original file: tollkeeper/budgets/v1/budgets.proto

import type { Budget as _tollkeeper_budgets_v1_Budget, Budget__Output as _tollkeeper_budgets_v1_Budget__Output } from '../../../tollkeeper/budgets/v1/Budget.ts';

export interface ListActiveBudgetsResponse {
  /**
   * At most 200.
   */
  'budgets'?: (_tollkeeper_budgets_v1_Budget)[];
}

export interface ListActiveBudgetsResponse__Output {
  /**
   * At most 200.
   */
  'budgets': (_tollkeeper_budgets_v1_Budget__Output)[];
}
