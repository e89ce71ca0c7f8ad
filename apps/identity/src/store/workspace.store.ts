import { isDuplicateKey, withTransaction } from '@tollkeeper/mongo';
import { trusted } from 'mongoose';
import type { Workspace, WorkspaceStore } from '../domain/workspace.ts';
import { insertMember } from './membership.ts';
import type { IdentityModels, StoredWorkspace } from './models.ts';

export function createWorkspaceStore(models: IdentityModels): WorkspaceStore {
  const { connection, workspaces, members } = models;

  return {
    async listOf(userId) {
      const memberships = await members.find({ userId }).lean();
      const roles = new Map(memberships.map(({ tenantId, role }) => [tenantId, role]));
      const found = await workspaces
        .find({ _id: trusted({ $in: [...roles.keys()] }) })
        .sort({ slug: 1 })
        .lean();
      return found.flatMap((stored) => {
        const role = roles.get(stored._id);
        return role === undefined ? [] : [{ workspace: toWorkspace(stored), role }];
      });
    },

    async find(tenantId) {
      const stored = await workspaces.findById(tenantId).lean();
      return stored === null ? null : toWorkspace(stored);
    },

    async create({ id, createdAt, ...fields }, ownerId) {
      try {
        await withTransaction(connection, async (session) => {
          await workspaces.create([{ _id: id, createdAt, ...fields }], { session });
          const made = { role: 'owner', source: 'manual', joinedAt: createdAt } as const;
          await insertMember(models, { tenantId: id, userId: ownerId, ...made }, session);
        });
        return true;
      } catch (error) {
        if (isDuplicateKey(error)) return false;
        throw error;
      }
    },

    async update(tenantId, change) {
      const updated = await workspaces
        .findOneAndUpdate({ _id: tenantId }, { $set: change }, { returnDocument: 'after' })
        .lean();
      return updated === null ? null : toWorkspace(updated);
    },
  };
}

function toWorkspace({ _id, slug, name, timezone, createdAt }: StoredWorkspace): Workspace {
  return { id: _id, slug, name, timezone, createdAt };
}
