// Original file: tollkeeper/budgets/v1/budgets.proto


export interface ListPricesRequest {
  'tenantId'?: (string);
  /**
   * The `next_after` of the page before; 0 for the first page.
   */
  'after'?: (number);
}

export interface ListPricesRequest__Output {
  'tenantId': (string);
  /**
   * The `next_after` of the page before; 0 for the first page.
   */
  'after': (number);
}
