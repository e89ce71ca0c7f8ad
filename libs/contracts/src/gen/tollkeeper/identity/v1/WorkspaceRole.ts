// Original file: tollkeeper/identity/v1/identity.proto

/**
 * What a user may do in a workspace. An owner may do all that an admin may, and an admin all that a member may.
 */
export const WorkspaceRole = {
  /**
   * Never sent.
   */
  WORKSPACE_ROLE_UNSPECIFIED: 'WORKSPACE_ROLE_UNSPECIFIED',
  WORKSPACE_ROLE_MEMBER: 'WORKSPACE_ROLE_MEMBER',
  WORKSPACE_ROLE_ADMIN: 'WORKSPACE_ROLE_ADMIN',
  WORKSPACE_ROLE_OWNER: 'WORKSPACE_ROLE_OWNER',
  /**
   * Reads what an owner reads, and changes nothing but exports and statements.
   */
  WORKSPACE_ROLE_FINANCE: 'WORKSPACE_ROLE_FINANCE',
} as const;

/**
 * What a user may do in a workspace. An owner may do all that an admin may, and an admin all that a member may.
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
   * Reads what an owner reads, and changes nothing but exports and statements.
   */
  | 'WORKSPACE_ROLE_FINANCE'
  | 4

/**
 * What a user may do in a workspace. An owner may do all that an admin may, and an admin all that a member may.
 */
export type WorkspaceRole__Output = typeof WorkspaceRole[keyof typeof WorkspaceRole]
