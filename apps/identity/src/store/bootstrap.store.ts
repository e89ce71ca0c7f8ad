import { withTransaction } from '@tollkeeper/mongo';
import type { ClientSession } from 'mongoose';
import type { BootstrapStore, EnsuredOwner } from '../domain/owner.bootstrap.ts';
import type { User } from '../domain/user.ts';
import type { Workspace } from '../domain/workspace.ts';
import type { IdentityModels } from './models.ts';

export function createBootstrapStore(models: IdentityModels): BootstrapStore {
  const { connection, users, sessions, workspaces, members } = models;

  async function ensure(session: ClientSession, newUser: User, newWorkspace: Workspace): Promise<EnsuredOwner> {
    const { id: newUserId, ...user } = newUser;
    const { id: newTenantId, ...workspace } = newWorkspace;
    const knownUser = await users.findOne({ email: user.email }).session(session).lean();
    const knownWorkspace = await workspaces.findOne({ slug: workspace.slug }).session(session).lean();
    const userId = knownUser?._id ?? newUserId;
    const tenantId = knownWorkspace?._id ?? newTenantId;

    if (knownUser === null) await users.create([{ _id: userId, ...user }], { session });
    else {
      await users.updateOne({ _id: userId }, { $set: { passwordHash: user.passwordHash } }, { session });
      await sessions.deleteMany({ userId }, { session });
    }
    if (knownWorkspace === null) await workspaces.create([{ _id: tenantId, ...workspace }], { session });
    await members.updateOne(
      { tenantId, userId },
      { $set: { role: 'owner' }, $setOnInsert: { joinedAt: workspace.createdAt } },
      { session, upsert: true },
    );
    return { userId, tenantId };
  }

  return {
    ensure: (user, workspace) => withTransaction(connection, (session) => ensure(session, user, workspace)),
    hasUsers: async () => (await users.exists({})) !== null,
    ensureFirst: (user, workspace) =>
      withTransaction(connection, async (session) =>
        (await users.exists({}).session(session)) === null ? ensure(session, user, workspace) : null,
      ),
  };
}
