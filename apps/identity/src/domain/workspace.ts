import type { AuditedFields, Cause } from '@tollkeeper/contracts';
import type { Role, TenantId } from '@tollkeeper/kernel';

/** A workspace is a tenant. Its `slug` is unique and never changes. */
export interface Workspace {
  id: TenantId;
  slug: string;
  name: string;
  /** IANA name of the time zone that defines the workspace's days. */
  timezone: string;
  /** Names of the labels by which the dashboard divides spend. */
  trackedLabels: readonly string[];
  createdAt: Date;
}

/** A workspace with the role of one of its members. */
export interface WorkspaceOfUser {
  workspace: Workspace;
  role: Role;
}

/** The fields of a workspace that the audit log records. */
export const AUDITED_WORKSPACE: AuditedFields<Pick<Workspace, 'slug' | 'name' | 'timezone' | 'trackedLabels'>> = {
  slug: (workspace) => workspace.slug,
  name: (workspace) => workspace.name,
  timezone: (workspace) => workspace.timezone,
  tracked_labels: ({ trackedLabels }) => (trackedLabels.length === 0 ? null : trackedLabels),
};

/** What owners change. A field that is absent stays as it is. */
export type WorkspaceChange = Partial<Pick<Workspace, 'name' | 'timezone' | 'trackedLabels'>>;

/** Changes are written to the audit trail in their transaction. */
export interface WorkspaceStore {
  /** The workspaces of a user, ordered by slug. */
  listOf(userId: string): Promise<WorkspaceOfUser[]>;
  find(tenantId: TenantId): Promise<Workspace | null>;
  /**
   * Stores the workspace with its first owner, both or neither. False, with nothing stored, if the slug is taken.
   * Rejects with `conflict` if the owner has too many workspaces.
   */
  create(workspace: Workspace, ownerId: string, cause: Cause): Promise<boolean>;
  /** Changes the given fields. Null if there is no such workspace. */
  update(tenantId: TenantId, change: WorkspaceChange, cause: Cause): Promise<Workspace | null>;
}
