// Original file: tollkeeper/identity/v1/identity.proto

/**
 * What a user may do in a workspace. Each role may do all that the one before it may.
 */
export const WorkspaceRole = {
  /**
   * Never sent.
   */
  WORKSPACE_ROLE_UNSPECIFIED: 'WORKSPACE_ROLE_UNSPECIFIED',
  WORKSPACE_ROLE_MEMBER: 'WORKSPACE_ROLE_MEMBER',
  WORKSPACE_ROLE_ADMIN: 'WORKSPACE_ROLE_ADMIN',
  WORKSPACE_ROLE_OWNER: 'WORKSPACE_ROLE_OWNER',
} as const;

/**
 * What a user may do in a workspace. Each role may do all that the one before it may.
 */
export type WorkspaceRole =
  /**
   * Never sent.
   */
  | 'WORKSPACE_ROLE_UNSPECIFIED'
  | 0
  | 'WORKSPACE_ROLE_MEMBER'
  | 1
  | 'WORKSPACE_ROLE_ADMIN'
  | 2
  | 'WORKSPACE_ROLE_OWNER'
  | 3

/**
 * What a user may do in a workspace. Each role may do all that the one before it may.
 */
export type WorkspaceRole__Output = typeof WorkspaceRole[keyof typeof WorkspaceRole]
