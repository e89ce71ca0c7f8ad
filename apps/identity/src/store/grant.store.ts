import type { AuditTrail } from '@tollkeeper/audit-trail';
import { type AuditAction, type Cause, systemCause } from '@tollkeeper/contracts';
import { changeInTurn } from '@tollkeeper/mongo';
import { trusted } from 'mongoose';
import { AUDITED_MEMBER, type Member } from '../domain/member.ts';
import type { GrantStore } from '../domain/oidc/log-in.store.ts';
import { settleMembership } from '../domain/oidc/membership.plan.ts';
import { changeMember, insertMember, serializeMembers } from './membership.ts';
import type { IdentityModels } from './models.ts';

export function createGrantStore(models: IdentityModels, trail: AuditTrail): GrantStore {
  const { connection, users, workspaces, members } = models;
  return {
    async resolve(slugs) {
      const found = await workspaces.find({ slug: trusted({ $in: slugs }) }, { slug: 1 }).lean();
      return new Map(found.map(({ _id, slug }) => [slug, _id]));
    },

    async membershipsOf(userId) {
      const found = await members.find({ userId }).lean();
      return found.map(({ tenantId, role, source }) => ({ tenantId, role, source }));
    },

    apply: (tenantId, userId, wanted, at, { providerId: _, ...request }) =>
      changeInTurn(connection, tenantId, async (session) => {
        await serializeMembers(models, tenantId, session);
        const by = (action: AuditAction): Cause => ({ ...systemCause(action, 'single-sign-on'), ...request });
        const decide = (member: Member, otherOwners: number) => settleMembership(member, wanted, otherOwners);
        const cause = by(wanted === null ? 'member.remove' : 'member.role.change');
        const known = await changeMember(models, trail, { tenantId, userId, decide, cause }, session);
        if (known !== null || wanted === null) return;
        await insertMember(models, { tenantId, userId, role: wanted, joinedAt: at, source: 'oidc' }, session);
        const user = await users.findById(userId, { name: 1 }, { session }).lean();
        const target = { type: 'member', id: userId, name: user?.name ?? '' };
        const changed = { target, fields: AUDITED_MEMBER, before: null, after: { role: wanted } };
        await trail.recordChange(session, tenantId, by('member.add'), changed);
      }),
  };
}
