// Original file: tollkeeper/enforcer/v1/enforcer.proto

/**
 * What a budget is set for.
 */
export const LimitScope = {
  /**
   * Never sent.
   */
  LIMIT_SCOPE_UNSPECIFIED: 'LIMIT_SCOPE_UNSPECIFIED',
  LIMIT_SCOPE_WORKSPACE: 'LIMIT_SCOPE_WORKSPACE',
  LIMIT_SCOPE_AGENT: 'LIMIT_SCOPE_AGENT',
  LIMIT_SCOPE_PLAN: 'LIMIT_SCOPE_PLAN',
  /**
   * A budget with a selector and a period of its own.
   */
  LIMIT_SCOPE_BUDGET: 'LIMIT_SCOPE_BUDGET',
} as const;

/**
 * What a budget is set for.
 */
export type LimitScope =
  /**
   * Never sent.
   */
  | 'LIMIT_SCOPE_UNSPECIFIED'
  | 0
  | 'LIMIT_SCOPE_WORKSPACE'
  | 1
  | 'LIMIT_SCOPE_AGENT'
  | 2
  | 'LIMIT_SCOPE_PLAN'
  | 3
  /**
   * A budget with a selector and a period of its own.
   */
  | 'LIMIT_SCOPE_BUDGET'
  | 4

/**
 * What a budget is set for.
 */
export type LimitScope__Output = typeof LimitScope[keyof typeof LimitScope]
