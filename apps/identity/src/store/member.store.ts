import type { Role, TenantId } from '@tollkeeper/kernel';
import { withTransaction } from '@tollkeeper/mongo';
import { type ClientSession, trusted } from 'mongoose';
import type { Member, MemberStore } from '../domain/member.ts';
import { requireOwner, serializeMembers } from './membership.ts';
import type { IdentityModels, StoredMember, StoredUser } from './models.ts';
import { toUser } from './user.store.ts';

export function createMemberStore(models: IdentityModels): MemberStore {
  const { connection, users, members, invitations } = models;

  /** Ends or changes a membership within the serialised changes. Null when the user is no member. */
  async function change(
    tenantId: TenantId,
    userId: string,
    decide: (member: Member, otherOwners: number) => Role | null,
    session: ClientSession,
  ): Promise<Member | null> {
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
    // What an owner offered must not bring them back, or anybody else, after they have lost the role.
    if (role !== 'owner') await invitations.deleteMany({ tenantId, invitedBy: userId }, { session });
    return { ...member, role: role ?? member.role };
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

    change: (tenantId, ownerId, userId, decide) =>
      withTransaction(connection, async (session) => {
        await serializeMembers(models, tenantId, session);
        await requireOwner(models, tenantId, ownerId, session);
        return change(tenantId, userId, decide, session);
      }),

    leave: (tenantId, userId, allow) =>
      withTransaction(connection, async (session) => {
        await serializeMembers(models, tenantId, session);
        const decide = (member: Member, otherOwners: number) => {
          allow(member, otherOwners);
          return null;
        };
        return (await change(tenantId, userId, decide, session)) !== null;
      }),
  };
}

function toMember({ userId, role, source = 'manual', joinedAt }: StoredMember, stored: StoredUser): Member {
  const { loginName, email, emailVerified, name } = toUser(stored);
  return { userId, loginName, email, emailVerified, name, role, source, joinedAt };
}
