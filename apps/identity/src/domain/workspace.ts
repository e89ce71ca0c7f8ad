import type { AuditedFields, Cause } from '@tollkeeper/contracts';
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

/** The fields of a workspace that the audit log records. */
export const AUDITED_WORKSPACE: AuditedFields<Pick<Workspace, 'slug' | 'name' | 'timezone'>> = {
  slug: (workspace) => workspace.slug,
  name: (workspace) => workspace.name,
  timezone: (workspace) => workspace.timezone,
};

/** A change is written to the audit trail in its transaction. */
export interface WorkspaceStore {
  /** The workspaces of a user by slug. */
  listOf(userId: string): Promise<WorkspaceOfUser[]>;
  find(tenantId: TenantId): Promise<Workspace | null>;
  /**
   * Stores the workspace with its first owner, both or neither. False, with nothing stored, when the slug is taken.
   * Rejects with `conflict` when the owner has too many workspaces.
   */
  create(workspace: Workspace, ownerId: string, cause: Cause): Promise<boolean>;
  /** Changes the given fields. Null when there is no such workspace. */
  update(tenantId: TenantId, change: { name?: string; timezone?: string }, cause: Cause): Promise<Workspace | null>;
}
