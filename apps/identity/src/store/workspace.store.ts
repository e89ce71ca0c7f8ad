import type { AuditTrail } from '@tollkeeper/audit-trail';
import { ranksAtLeast, type Role, type TenantId } from '@tollkeeper/kernel';
import { changeInTurn, isDuplicateKey } from '@tollkeeper/mongo';
import { trusted } from 'mongoose';
import { AUDITED_WORKSPACE, type Workspace, type WorkspaceStore } from '../domain/workspace.ts';
import { insertMember } from './membership.ts';
import type { IdentityModels, StoredWorkspace } from './models.ts';
import { rolesByOrganisation } from './organisation.access.ts';

export function createWorkspaceStore(models: IdentityModels, trail: AuditTrail): WorkspaceStore {
  const { connection, workspaces, members } = models;

  return {
    async listOf(userId) {
      const [memberships, others] = await Promise.all([
        members.find({ userId }).lean(),
        rolesByOrganisation(models, userId, null),
      ]);
      const roles = new Map<TenantId, Role>();
      for (const { tenantId, role } of [...memberships, ...others]) {
        const known = roles.get(tenantId);
        if (known === undefined || ranksAtLeast(role, known)) roles.set(tenantId, role);
      }
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

    async create({ id, createdAt, ...fields }, ownerId, cause) {
      try {
        await changeInTurn(connection, ownerId, async (session) => {
          await workspaces.create([{ _id: id, createdAt, ...fields }], { session });
          const made = { role: 'owner', source: 'manual', joinedAt: createdAt } as const;
          await insertMember(models, { tenantId: id, userId: ownerId, ...made }, session);
          const target = { type: 'workspace', id, name: fields.name };
          const changed = { target, fields: AUDITED_WORKSPACE, before: null, after: fields };
          await trail.recordChange(session, id, cause, changed);
        });
        return true;
      } catch (error) {
        if (isDuplicateKey(error)) return false;
        throw error;
      }
    },

    update: (tenantId, change, cause) =>
      changeInTurn(connection, tenantId, async (session) => {
        const stored = await workspaces.findOneAndUpdate({ _id: tenantId }, { $set: change }, { session }).lean();
        if (stored === null) return null;
        const before = toWorkspace(stored);
        const after = { ...before, ...change };
        const target = { type: 'workspace', id: tenantId, name: after.name };
        await trail.recordChange(session, tenantId, cause, { target, fields: AUDITED_WORKSPACE, before, after });
        return after;
      }),
  };
}

function toWorkspace({ _id, slug, name, timezone, trackedLabels = [], createdAt }: StoredWorkspace): Workspace {
  return { id: _id, slug, name, timezone, trackedLabels, createdAt };
}
