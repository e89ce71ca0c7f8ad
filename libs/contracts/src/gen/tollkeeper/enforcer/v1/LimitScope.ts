// Original file: tollkeeper/enforcer/v1/enforcer.proto

/**
 * What a daily budget is set for.
 */
export const LimitScope = {
  /**
   * Never sent.
   */
  LIMIT_SCOPE_UNSPECIFIED: 'LIMIT_SCOPE_UNSPECIFIED',
  LIMIT_SCOPE_WORKSPACE: 'LIMIT_SCOPE_WORKSPACE',
  LIMIT_SCOPE_AGENT: 'LIMIT_SCOPE_AGENT',
  LIMIT_SCOPE_PLAN: 'LIMIT_SCOPE_PLAN',
} as const;

/**
 * What a daily budget is set for.
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
 * What a daily budget is set for.
 */
export type LimitScope__Output = typeof LimitScope[keyof typeof LimitScope]
