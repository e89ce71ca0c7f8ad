// Original file: tollkeeper/enforcer/v1/enforcer.proto


export interface ListBudgetsByRiskRequest {
  'tenantId'?: (string);
  /**
   * The most budgets to answer, 1 to 100.
   */
  'max'?: (number);
}

export interface ListBudgetsByRiskRequest__Output {
  'tenantId': (string);
  /**
   * The most budgets to answer, 1 to 100.
   */
  'max': (number);
}
