import type { TenantId } from '@tollkeeper/kernel';
import { withTransaction } from '@tollkeeper/mongo';
import { type ClientSession, trusted } from 'mongoose';
import { type Member, type MemberStore, noOwner } from '../domain/member.ts';
import type { IdentityModels, StoredMember, StoredUser } from './models.ts';
import { fromUser, toUser } from './user.store.ts';

export function createMemberStore(models: IdentityModels): MemberStore {
  const { connection, users, workspaces, members } = models;

  /** Makes changes of memberships in one workspace conflict, so that they happen one after the other. */
  async function serialize(tenantId: TenantId, session: ClientSession): Promise<void> {
    await workspaces.updateOne({ _id: tenantId }, { $inc: { memberRevision: 1 } }, { session });
  }

  /** Read within the serialised changes, so that no role changes meanwhile. */
  async function requireOwner(tenantId: TenantId, ownerId: string, session: ClientSession): Promise<void> {
    if (!(await members.exists({ tenantId, userId: ownerId, role: 'owner' }).session(session))) throw noOwner();
  }

  return {
    async list(tenantId) {
      const stored = await members.find({ tenantId }).lean();
      const found = await users.find({ _id: trusted({ $in: stored.map(({ userId }) => userId) }) }).lean();
      const byId = new Map(found.map((user) => [user._id, user]));
      return stored
        .flatMap((member) => {
          const user = byId.get(member.userId);
          return user === undefined ? [] : [toMember(member, user)];
        })
        .sort((a, b) => ((a.email ?? a.loginName) < (b.email ?? b.loginName) ? -1 : 1));
    },

    add: (tenantId, ownerId, newUser, role, joinedAt) =>
      withTransaction(connection, async (session) => {
        await serialize(tenantId, session);
        await requireOwner(tenantId, ownerId, session);
        const known = await users.findOne({ email: newUser.loginName }).session(session).lean();
        const user = known ?? fromUser(newUser);
        if (known === null) await users.create([user], { session });
        else if (await members.exists({ tenantId, userId: known._id }).session(session)) {
          return { status: 'already_member' };
        }
        const member = { tenantId, userId: user._id, role, joinedAt, source: 'manual' as const };
        await members.create([member], { session });
        return { status: 'added', member: toMember(member, user), userCreated: known === null };
      }),

    change: (tenantId, ownerId, userId, decide) =>
      withTransaction(connection, async (session) => {
        await serialize(tenantId, session);
        await requireOwner(tenantId, ownerId, session);
        const stored = await members.findOne({ tenantId, userId }).session(session).lean();
        const user = await users.findById(userId).session(session).lean();
        if (stored === null || user === null) return null;
        const otherOwners = await members
          .countDocuments({ tenantId, role: 'owner', userId: trusted({ $ne: userId }) })
          .session(session);
        const member = toMember(stored, user);
        const role = decide(member, otherOwners);
        if (role === null) await members.deleteOne({ tenantId, userId }, { session });
        else await members.updateOne({ tenantId, userId }, { $set: { role } }, { session });
        return { ...member, role: role ?? member.role };
      }),
  };
}

function toMember({ userId, role, source = 'manual', joinedAt }: StoredMember, stored: StoredUser): Member {
  const { loginName, email, emailVerified, name } = toUser(stored);
  return { userId, loginName, email, emailVerified, name, role, source, joinedAt };
}
