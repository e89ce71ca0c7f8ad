// Original file: tollkeeper/budgets/v1/budgets.proto


export interface ListBudgetsRequest {
  'tenantId'?: (string);
}

export interface ListBudgetsRequest__Output {
  'tenantId': (string);
}
