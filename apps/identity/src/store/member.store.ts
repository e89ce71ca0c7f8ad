import type { AuditTrail } from '@tollkeeper/audit-trail';
import { type Cause, changesOf } from '@tollkeeper/contracts';
import type { Role, TenantId } from '@tollkeeper/kernel';
import { withTransaction } from '@tollkeeper/mongo';
import { type ClientSession, trusted } from 'mongoose';
import { AUDITED_MEMBER, type Member, type MemberStore } from '../domain/member.ts';
import { requireOwner, serializeMembers } from './membership.ts';
import type { IdentityModels, StoredMember, StoredUser } from './models.ts';
import { toUser } from './user.store.ts';

export function createMemberStore(models: IdentityModels, trail: AuditTrail): MemberStore {
  const { connection, users, members, invitations } = models;

  /** Ends or changes a membership within the serialised changes. Null when the user is no member. */
  async function change(
    tenantId: TenantId,
    userId: string,
    decide: (member: Member, otherOwners: number) => Role | null,
    cause: Cause,
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
    const changes = changesOf(AUDITED_MEMBER, member, role === null ? null : { role });
    if (role !== 'owner') {
      // What an owner offered must not bring them back, or anybody else, after they have lost the role.
      const { deletedCount } = await invitations.deleteMany({ tenantId, invitedBy: userId }, { session });
      if (deletedCount > 0) changes.push({ field: 'invitations_withdrawn', from: null, to: deletedCount });
    }
    const target = { type: 'member', id: userId, name: member.name };
    if (changes.length > 0) await trail.record(session, tenantId, cause, { target, changes });
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

    change: (tenantId, ownerId, userId, decide, cause) =>
      withTransaction(connection, async (session) => {
        await serializeMembers(models, tenantId, session);
        await requireOwner(models, tenantId, ownerId, session);
        return change(tenantId, userId, decide, cause, session);
      }),

    leave: (tenantId, userId, allow, cause) =>
      withTransaction(connection, async (session) => {
        await serializeMembers(models, tenantId, session);
        const decide = (member: Member, otherOwners: number) => {
          allow(member, otherOwners);
          return null;
        };
        return (await change(tenantId, userId, decide, cause, session)) !== null;
      }),
  };
}

function toMember({ userId, role, source = 'manual', joinedAt }: StoredMember, stored: StoredUser): Member {
  const { loginName, email, emailVerified, name } = toUser(stored);
  return { userId, loginName, email, emailVerified, name, role, source, joinedAt };
}
