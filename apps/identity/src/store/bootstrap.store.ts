import { withTransaction } from '@tollkeeper/mongo';
import type { BootstrapStore } from '../domain/owner.bootstrap.ts';
import type { IdentityModels } from './models.ts';

export function createBootstrapStore(models: IdentityModels): BootstrapStore {
  const { connection, users, sessions, workspaces, members } = models;
  return {
    ensure: (newUser, newWorkspace) =>
      withTransaction(connection, async (session) => {
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
      }),
  };
}
