// Original file: tollkeeper/budgets/v1/budgets.proto


export interface GetBudgetsRequest {
  'tenantId'?: (string);
  /**
   * At most 1000 ids; empty asks for the budget of the workspace alone.
   */
  'agentIds'?: (string)[];
}

export interface GetBudgetsRequest__Output {
  'tenantId': (string);
  /**
   * At most 1000 ids; empty asks for the budget of the workspace alone.
   */
  'agentIds': (string)[];
}
