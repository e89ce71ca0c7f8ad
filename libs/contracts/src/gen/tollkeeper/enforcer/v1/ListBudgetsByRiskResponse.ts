// Original file: tollkeeper/enforcer/v1/enforcer.proto

import type { BudgetRisk as _tollkeeper_enforcer_v1_BudgetRisk, BudgetRisk__Output as _tollkeeper_enforcer_v1_BudgetRisk__Output } from '../../../tollkeeper/enforcer/v1/BudgetRisk.ts';

export interface ListBudgetsByRiskResponse {
  'budgets'?: (_tollkeeper_enforcer_v1_BudgetRisk)[];
}

export interface ListBudgetsByRiskResponse__Output {
  'budgets': (_tollkeeper_enforcer_v1_BudgetRisk__Output)[];
}
