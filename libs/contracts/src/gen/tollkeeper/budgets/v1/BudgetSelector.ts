// Original file: tollkeeper/budgets/v1/budgets.proto


/**
 * Patterns of values, all of which must match: exact, or a prefix followed by `*`.
 */
export interface BudgetSelector {
  'agent'?: (string);
  'plan'?: (string);
  'model'?: (string);
  'provider'?: (string);
  /**
   * Id of a workspace key.
   */
  'key'?: (string);
  'labels'?: ({[key: string]: string});
  '_agent'?: "agent";
  '_plan'?: "plan";
  '_model'?: "model";
  '_provider'?: "provider";
  '_key'?: "key";
}

/**
 * Patterns of values, all of which must match: exact, or a prefix followed by `*`.
 */
export interface BudgetSelector__Output {
  'agent'?: (string);
  'plan'?: (string);
  'model'?: (string);
  'provider'?: (string);
  /**
   * Id of a workspace key.
   */
  'key'?: (string);
  'labels': ({[key: string]: string});
  '_agent'?: "agent";
  '_plan'?: "plan";
  '_model'?: "model";
  '_provider'?: "provider";
  '_key'?: "key";
}
