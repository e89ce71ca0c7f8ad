import type { AuditTrail } from '@tollkeeper/audit-trail';
import type { AuditChange, Cause } from '@tollkeeper/contracts';
import type { ClientSession } from 'mongoose';
import type { RequestCause } from '../domain/auth.use-cases.ts';
import type { IdentityModels } from './models.ts';
import { rolesByOrganisation } from './organisation.access.ts';

/** Writes changes of an account to the audit log of each of its workspaces. */
export interface AccountTrail {
  /**
   * Call it in the transaction of the change. If the cause has no actor, the user is the actor. An account without a
   * workspace is in no audit log.
   */
  record(
    session: ClientSession,
    userId: string,
    cause: RequestCause & Partial<Pick<Cause, 'actor'>>,
    changes?: AuditChange[],
  ): Promise<void>;
}

export function createAccountTrail(models: IdentityModels, trail: AuditTrail): AccountTrail {
  const { users, members } = models;
  return {
    async record(session, userId, cause, changes = []) {
      const user = await users.findById(userId, { name: 1 }, { session }).lean();
      const found = await members.find({ userId }, { tenantId: 1 }, { session }).lean();
      const others = await rolesByOrganisation(models, userId, session);
      const tenantIds = [...new Set([...found, ...others].map(({ tenantId }) => tenantId))];
      const target = { type: 'user', id: userId, name: user?.name ?? '' } as const;
      await trail.record(session, tenantIds, { actor: target, ...cause }, { target, changes });
    },
  };
}
