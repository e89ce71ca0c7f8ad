// Original file: tollkeeper/budgets/v1/budgets.proto

import type { Price as _tollkeeper_budgets_v1_Price, Price__Output as _tollkeeper_budgets_v1_Price__Output } from '../../../tollkeeper/budgets/v1/Price.ts';

export interface ListPricesResponse {
  /**
   * At most 500. A workspace has at most 1000.
   */
  'prices'?: (_tollkeeper_budgets_v1_Price)[];
  /**
   * Not set on the last page.
   */
  'nextAfter'?: (number);
  '_nextAfter'?: "nextAfter";
}

export interface ListPricesResponse__Output {
  /**
   * At most 500. A workspace has at most 1000.
   */
  'prices': (_tollkeeper_budgets_v1_Price__Output)[];
  /**
   * Not set on the last page.
   */
  'nextAfter'?: (number);
  '_nextAfter'?: "nextAfter";
}
