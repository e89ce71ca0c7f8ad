// Original file: tollkeeper/budgets/v1/budgets.proto

import type { Budget as _tollkeeper_budgets_v1_Budget, Budget__Output as _tollkeeper_budgets_v1_Budget__Output } from '../../../tollkeeper/budgets/v1/Budget.ts';
import type { Pause as _tollkeeper_budgets_v1_Pause, Pause__Output as _tollkeeper_budgets_v1_Pause__Output } from '../../../tollkeeper/budgets/v1/Pause.ts';
import type { Raise as _tollkeeper_budgets_v1_Raise, Raise__Output as _tollkeeper_budgets_v1_Raise__Output } from '../../../tollkeeper/budgets/v1/Raise.ts';

export interface ListActiveBudgetsResponse {
  /**
   * At most 200.
   */
  'budgets'?: (_tollkeeper_budgets_v1_Budget)[];
  /**
   * At most 100, each with another scope and value. Releases before pauses send none.
   */
  'pauses'?: (_tollkeeper_budgets_v1_Pause)[];
  /**
   * At most 100. Releases before raises send none.
   */
  'raises'?: (_tollkeeper_budgets_v1_Raise)[];
}

export interface ListActiveBudgetsResponse__Output {
  /**
   * At most 200.
   */
  'budgets': (_tollkeeper_budgets_v1_Budget__Output)[];
  /**
   * At most 100, each with another scope and value. Releases before pauses send none.
   */
  'pauses': (_tollkeeper_budgets_v1_Pause__Output)[];
  /**
   * At most 100. Releases before raises send none.
   */
  'raises': (_tollkeeper_budgets_v1_Raise__Output)[];
}
