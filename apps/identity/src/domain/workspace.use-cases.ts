import type { Cause } from '@tollkeeper/contracts';
import { AppError, type Clock, newId, provenTenantId, type TenantId } from '@tollkeeper/kernel';
import type { Workspace, WorkspaceChange, WorkspaceOfUser, WorkspaceStore } from './workspace.ts';

interface NewWorkspace {
  slug: string;
  name: string;
  timezone: string;
}

export interface WorkspaceUseCases {
  listOf(userId: string): Promise<WorkspaceOfUser[]>;
  /** Throws `not_found`. */
  get(tenantId: TenantId): Promise<Workspace>;
  /**
   * Creates a workspace with `userId` as its owner. Throws `conflict` if the slug is taken, or the user has too many
   * workspaces.
   */
  create(userId: string, workspace: NewWorkspace, cause: Cause): Promise<Workspace>;
  /** Throws `not_found`. */
  update(tenantId: TenantId, change: WorkspaceChange, cause: Cause): Promise<Workspace>;
}

export function createWorkspaceUseCases(deps: { workspaces: WorkspaceStore; clock: Clock }): WorkspaceUseCases {
  const { workspaces, clock } = deps;
  return {
    listOf: (userId) => workspaces.listOf(userId),

    async get(tenantId) {
      return (await workspaces.find(tenantId)) ?? notFound();
    },

    async create(userId, { slug, name, timezone }, cause) {
      const id = provenTenantId(newId('ws'));
      const workspace = { id, slug, name, timezone, trackedLabels: [], createdAt: new Date(clock()) };
      if (await workspaces.create(workspace, userId, cause)) return workspace;
      const details = [{ path: 'slug', message: 'is taken; choose another' }];
      throw new AppError('conflict', `A workspace with the slug ${slug} already exists. Choose another slug.`, {
        details,
      });
    },

    async update(tenantId, change, cause) {
      return (await workspaces.update(tenantId, change, cause)) ?? notFound();
    },
  };
}

function notFound(): never {
  throw new AppError('not_found', 'This workspace does not exist.');
}
