import type { AuditTrail } from '@tollkeeper/audit-trail';
import { CHANGED, systemCause } from '@tollkeeper/contracts';
import { isDuplicateKey, withTransaction } from '@tollkeeper/mongo';
import type { ClientSession } from 'mongoose';
import { AUDITED_MEMBER } from '../domain/member.ts';
import type { BootstrapStore, EnsuredOwner } from '../domain/owner.bootstrap.ts';
import type { User } from '../domain/user.ts';
import { AUDITED_WORKSPACE, type Workspace } from '../domain/workspace.ts';
import type { AccountTrail } from './account.trail.ts';
import type { IdentityModels } from './models.ts';
import { fromUser } from './user.store.ts';

const FIRST_OWNER = 'first-owner';

export function createBootstrapStore(
  models: IdentityModels,
  trail: AuditTrail,
  accounts: AccountTrail,
): BootstrapStore {
  const { connection, users, sessions, workspaces, members, bootstraps } = models;

  async function ensure(session: ClientSession, newUser: User, newWorkspace: Workspace): Promise<EnsuredOwner> {
    const { id: newTenantId, ...workspace } = newWorkspace;
    const knownUser = await users.findOne({ loginName: newUser.loginName }).session(session).lean();
    const knownWorkspace = await workspaces.findOne({ slug: workspace.slug }).session(session).lean();
    const userId = knownUser?._id ?? newUser.id;
    const tenantId = knownWorkspace?._id ?? newTenantId;

    if (knownUser === null) await users.create([fromUser(newUser)], { session });
    else {
      const { passwordHash } = newUser;
      await users.updateOne({ _id: userId }, { $set: { passwordHash } }, { session });
      await sessions.deleteMany({ userId }, { session });
      const changes = [{ field: 'password', from: null, to: CHANGED }];
      await accounts.record(session, userId, systemCause('user.password.change', FIRST_OWNER), changes);
    }
    if (knownWorkspace === null) {
      await workspaces.create([{ _id: tenantId, ...workspace }], { session });
      const target = { type: 'workspace', id: tenantId, name: workspace.name };
      const changed = { target, fields: AUDITED_WORKSPACE, before: null, after: workspace };
      await trail.recordChange(session, tenantId, systemCause('workspace.create', FIRST_OWNER), changed);
    }
    const before = await members
      .findOneAndUpdate(
        { tenantId, userId },
        { $set: { role: 'owner' }, $setOnInsert: { joinedAt: workspace.createdAt, source: 'manual' } },
        { session, upsert: true, returnDocument: 'before' },
      )
      .lean();
    if (knownWorkspace !== null) {
      const target = { type: 'member', id: userId, name: knownUser?.name ?? newUser.name };
      const changed = { target, fields: AUDITED_MEMBER, before, after: { role: 'owner' } as const };
      await trail.recordChange(session, tenantId, systemCause('member.role.change', FIRST_OWNER), changed);
    }
    return { userId, tenantId };
  }

  return {
    ensure: (user, workspace) => withTransaction(connection, (session) => ensure(session, user, workspace)),
    hasUsers: async () => (await users.exists({})) !== null,
    async ensureFirst(user, workspace) {
      // Two transactions that each insert the same id could both fail. So the document is created before.
      await bootstraps.updateOne({ _id: FIRST_OWNER }, {}, { upsert: true }).catch((error: unknown) => {
        if (!isDuplicateKey(error)) throw error;
      });
      return withTransaction(connection, async (session) => {
        await bootstraps.updateOne({ _id: FIRST_OWNER }, { $inc: { attempts: 1 } }, { session });
        return (await users.exists({}).session(session)) === null ? ensure(session, user, workspace) : null;
      });
    },
  };
}
