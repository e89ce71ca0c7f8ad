import { withTransaction } from '@tollkeeper/mongo';
import { trusted } from 'mongoose';
import type { GrantStore } from '../domain/oidc/log-in.store.ts';
import { settleMembership } from '../domain/oidc/membership.plan.ts';
import { insertMember, serializeMembers } from './membership.ts';
import type { IdentityModels } from './models.ts';

export function createGrantStore(models: IdentityModels): GrantStore {
  const { connection, workspaces, members, invitations } = models;
  return {
    async resolve(slugs) {
      const found = await workspaces.find({ slug: trusted({ $in: slugs }) }, { slug: 1 }).lean();
      return new Map(found.map(({ _id, slug }) => [slug, _id]));
    },

    async membershipsOf(userId) {
      const found = await members.find({ userId }).lean();
      return found.map(({ tenantId, role, source = 'manual' }) => ({ tenantId, role, source }));
    },

    apply: (tenantId, userId, wanted, at) =>
      withTransaction(connection, async (session) => {
        await serializeMembers(models, tenantId, session);
        const stored = await members.findOne({ tenantId, userId }).session(session).lean();
        const current = stored === null ? null : { role: stored.role, source: stored.source ?? ('manual' as const) };
        const others = { tenantId, role: 'owner' as const, userId: trusted({ $ne: userId }) };
        const role = settleMembership(current, wanted, await members.countDocuments(others).session(session));
        if (role === 'keep') return;
        if (role === null) await members.deleteOne({ tenantId, userId }, { session });
        else if (stored !== null) await members.updateOne({ tenantId, userId }, { $set: { role } }, { session });
        else await insertMember(models, { tenantId, userId, role, joinedAt: at, source: 'oidc' }, session);
        if (role !== 'owner') await invitations.deleteMany({ tenantId, invitedBy: userId }, { session });
      }),
  };
}
