import type { Cause } from '@tollkeeper/contracts';
import { AppError, type Role, type TenantId } from '@tollkeeper/kernel';
import { type Member, type MemberStore, requireOwnerLeft } from './member.ts';

/** Changes throw `forbidden` if `ownerId` is no longer an owner. */
export interface MemberUseCases {
  list(tenantId: TenantId): Promise<Member[]>;
  /** Throws `not_found`, and `conflict` if the workspace would lose its last owner. */
  setRole(tenantId: TenantId, ownerId: string, userId: string, role: Role, cause: Cause): Promise<Member>;
  /** Throws `not_found`, and `conflict` if the workspace would lose its last owner. */
  remove(tenantId: TenantId, ownerId: string, userId: string, cause: Cause): Promise<void>;
  /** Throws as `remove` does. */
  leave(tenantId: TenantId, userId: string, cause: Cause): Promise<void>;
}

export function createMemberUseCases(members: MemberStore): MemberUseCases {
  return {
    list: (tenantId) => members.list(tenantId),

    async setRole(tenantId, ownerId, userId, role, cause) {
      const decide = (current: Member, otherOwners: number): Role => {
        if (role !== 'owner') requireOwnerLeft(current, otherOwners);
        return role;
      };
      const member = await members.change(tenantId, ownerId, userId, decide, cause);
      return member ?? notFound();
    },

    async remove(tenantId, ownerId, userId, cause) {
      const decide = (current: Member, otherOwners: number): null => {
        requireOwnerLeft(current, otherOwners);
        return null;
      };
      const removed = await members.change(tenantId, ownerId, userId, decide, cause);
      if (removed === null) notFound();
    },

    async leave(tenantId, userId, cause) {
      if (!(await members.leave(tenantId, userId, requireOwnerLeft, cause))) notFound();
    },
  };
}

function notFound(): never {
  throw new AppError('not_found', 'This workspace has no member with that user_id.');
}
