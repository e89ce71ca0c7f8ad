import type { Role, TenantId } from '@tollkeeper/kernel';

/** A workspace is a tenant. Its `slug` is unique and never changes. */
export interface Workspace {
  id: TenantId;
  slug: string;
  name: string;
  /** IANA name of the time zone. The days of the workspace begin in it. */
  timezone: string;
  createdAt: Date;
}

/** A workspace as one of its members sees it. */
export interface WorkspaceOfUser {
  workspace: Workspace;
  role: Role;
}

export interface WorkspaceStore {
  /** The workspaces of a user by slug. */
  listOf(userId: string): Promise<WorkspaceOfUser[]>;
  find(tenantId: TenantId): Promise<Workspace | null>;
  /**
   * Stores the workspace with its first owner, both or neither. False, with nothing stored, when the slug is taken.
   * Rejects with `conflict` when the owner has too many workspaces.
   */
  create(workspace: Workspace, ownerId: string): Promise<boolean>;
  /** Changes the given fields. Null when there is no such workspace. */
  update(tenantId: TenantId, change: { name?: string; timezone?: string }): Promise<Workspace | null>;
}
