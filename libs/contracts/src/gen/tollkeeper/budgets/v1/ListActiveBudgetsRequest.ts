// Original file: tollkeeper/budgets/v1/budgets.proto


export interface ListActiveBudgetsRequest {
  'tenantId'?: (string);
}

export interface ListActiveBudgetsRequest__Output {
  'tenantId': (string);
}
