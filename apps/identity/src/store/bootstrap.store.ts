import { isDuplicateKey, withTransaction } from '@tollkeeper/mongo';
import type { ClientSession } from 'mongoose';
import type { BootstrapStore, EnsuredOwner } from '../domain/owner.bootstrap.ts';
import type { User } from '../domain/user.ts';
import type { Workspace } from '../domain/workspace.ts';
import type { IdentityModels } from './models.ts';
import { fromUser } from './user.store.ts';

const FIRST_OWNER = 'first-owner';

export function createBootstrapStore(models: IdentityModels): BootstrapStore {
  const { connection, users, sessions, workspaces, members, bootstraps } = models;

  async function ensure(session: ClientSession, newUser: User, newWorkspace: Workspace): Promise<EnsuredOwner> {
    const { id: newTenantId, ...workspace } = newWorkspace;
    const knownUser = await users.findOne({ email: newUser.loginName }).session(session).lean();
    const knownWorkspace = await workspaces.findOne({ slug: workspace.slug }).session(session).lean();
    const userId = knownUser?._id ?? newUser.id;
    const tenantId = knownWorkspace?._id ?? newTenantId;

    if (knownUser === null) await users.create([fromUser(newUser)], { session });
    else {
      const { passwordHash, mustChangePassword } = newUser;
      await users.updateOne({ _id: userId }, { $set: { passwordHash, mustChangePassword } }, { session });
      await sessions.deleteMany({ userId }, { session });
    }
    if (knownWorkspace === null) await workspaces.create([{ _id: tenantId, ...workspace }], { session });
    await members.updateOne(
      { tenantId, userId },
      { $set: { role: 'owner' }, $setOnInsert: { joinedAt: workspace.createdAt, source: 'manual' } },
      { session, upsert: true },
    );
    return { userId, tenantId };
  }

  return {
    ensure: (user, workspace) => withTransaction(connection, (session) => ensure(session, user, workspace)),
    hasUsers: async () => (await users.exists({})) !== null,
    async ensureFirst(user, workspace) {
      // Two transactions that each make the first document of the same id could both fail. So it is there before.
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
