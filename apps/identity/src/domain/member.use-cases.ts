import { AppError, type Role, type TenantId } from '@tollkeeper/kernel';
import { type Member, type MemberStore, requireOwnerLeft } from './member.ts';

/** Changes throw `forbidden` when `ownerId` is no owner any more. */
export interface MemberUseCases {
  list(tenantId: TenantId): Promise<Member[]>;
  /** Throws `not_found`, and `conflict` when the workspace would be left without an owner. */
  setRole(tenantId: TenantId, ownerId: string, userId: string, role: Role): Promise<Member>;
  /** Throws `not_found`, and `conflict` when the workspace would be left without an owner. */
  remove(tenantId: TenantId, ownerId: string, userId: string): Promise<void>;
  /** Throws as `remove` does. */
  leave(tenantId: TenantId, userId: string): Promise<void>;
}

export function createMemberUseCases(members: MemberStore): MemberUseCases {
  return {
    list: (tenantId) => members.list(tenantId),

    async setRole(tenantId, ownerId, userId, role) {
      const member = await members.change(tenantId, ownerId, userId, (current, otherOwners) => {
        if (role !== 'owner') requireOwnerLeft(current, otherOwners);
        return role;
      });
      return member ?? notFound();
    },

    async remove(tenantId, ownerId, userId) {
      const removed = await members.change(tenantId, ownerId, userId, (current, otherOwners) => {
        requireOwnerLeft(current, otherOwners);
        return null;
      });
      if (removed === null) notFound();
    },

    async leave(tenantId, userId) {
      if (!(await members.leave(tenantId, userId, requireOwnerLeft))) notFound();
    },
  };
}

function notFound(): never {
  throw new AppError('not_found', 'This workspace has no member with that user_id.');
}
