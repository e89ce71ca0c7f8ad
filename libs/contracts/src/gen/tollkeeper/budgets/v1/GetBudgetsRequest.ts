// Original file: tollkeeper/budgets/v1/budgets.proto


export interface GetBudgetsRequest {
  'tenantId'?: (string);
  /**
   * At most 1000 ids; empty asks for no agent.
   */
  'agentIds'?: (string)[];
  /**
   * At most 1000 keys; empty asks for no plan.
   */
  'planKeys'?: (string)[];
}

export interface GetBudgetsRequest__Output {
  'tenantId': (string);
  /**
   * At most 1000 ids; empty asks for no agent.
   */
  'agentIds': (string)[];
  /**
   * At most 1000 keys; empty asks for no plan.
   */
  'planKeys': (string)[];
}
