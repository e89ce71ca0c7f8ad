import type { AuditTrail } from '@tollkeeper/audit-trail';
import { changeInTurn } from '@tollkeeper/mongo';
import { trusted } from 'mongoose';
import type { Member, MemberStore } from '../domain/member.ts';
import { changeMember, requireOwner, serializeMembers, toMember } from './membership.ts';
import type { IdentityModels } from './models.ts';

export function createMemberStore(models: IdentityModels, trail: AuditTrail): MemberStore {
  const { connection, users, members } = models;

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
      changeInTurn(connection, tenantId, async (session) => {
        await serializeMembers(models, tenantId, session);
        await requireOwner(models, tenantId, ownerId, session);
        return changeMember(models, trail, { tenantId, userId, decide, cause }, session);
      }),

    leave: (tenantId, userId, allow, cause) =>
      changeInTurn(connection, tenantId, async (session) => {
        await serializeMembers(models, tenantId, session);
        const decide = (member: Member, otherOwners: number) => {
          allow(member, otherOwners);
          return null;
        };
        return (await changeMember(models, trail, { tenantId, userId, decide, cause }, session)) !== null;
      }),
  };
}
