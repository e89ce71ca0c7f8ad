import type { AuditTrail } from '@tollkeeper/audit-trail';
import { changeInTurn } from '@tollkeeper/mongo';
import { trusted } from 'mongoose';
import type { Member } from '../domain/member.ts';
import type { GrantStore } from '../domain/oidc/log-in.store.ts';
import { settleMembership } from '../domain/oidc/membership.plan.ts';
import { serializeMembers } from './membership.ts';
import type { IdentityModels } from './models.ts';
import { applyRole } from './role.ts';

export function createGrantStore(models: IdentityModels, trail: AuditTrail): GrantStore {
  const { connection, workspaces, members } = models;
  return {
    async resolve(slugs) {
      const found = await workspaces.find({ slug: trusted({ $in: slugs }) }, { slug: 1 }).lean();
      return new Map(found.map(({ _id, slug }) => [slug, _id]));
    },

    async membershipsOf(userId) {
      const found = await members.find({ userId }).lean();
      return found.map(({ tenantId, role, source }) => ({ tenantId, role, source }));
    },

    apply: (tenantId, userId, role, at, request) =>
      changeInTurn(connection, tenantId, async (session) => {
        await serializeMembers(models, tenantId, session);
        const decide = (member: Member, otherOwners: number) => settleMembership(member, role, otherOwners);
        const component = 'single-sign-on';
        const given = { tenantId, userId, role, source: 'oidc', decide, at, component, request } as const;
        await applyRole(models, trail, session, given);
      }),
  };
}
