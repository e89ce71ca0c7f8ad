import { AppError, type Role, type TenantId } from '@tollkeeper/kernel';
import type { User } from './user.ts';

/** A user in a workspace. */
export interface Member {
  userId: string;
  email: string;
  name: string;
  role: Role;
  joinedAt: Date;
}

export type AddedMember = { status: 'added'; member: Member; userCreated: boolean } | { status: 'already_member' };

/**
 * Changes reject with `forbidden` when `ownerId`, who asks for them, is no owner as of this very change: a gateway
 * knows roles of some seconds ago, and who has just lost theirs must not give it back to themselves.
 */
export interface MemberStore {
  /** The members by e-mail. */
  list(tenantId: TenantId): Promise<Member[]>;
  /** Makes the user of `newUser.email` a member; keeps `newUser` first when there is none with that e-mail. */
  add(tenantId: TenantId, ownerId: string, newUser: User, role: Role, joinedAt: Date): Promise<AddedMember>;
  /**
   * Sets the role that `decide` answers, or ends the membership where it answers null. `otherOwners` is their number as
   * of this very change: changes in one workspace happen one after the other. Null when the user is no member; a throw
   * of `decide` changes nothing and is passed on.
   */
  change(
    tenantId: TenantId,
    ownerId: string,
    userId: string,
    decide: (member: Member, otherOwners: number) => Role | null,
  ): Promise<Member | null>;
}

/** What somebody gets who is no owner any more. */
export function noOwner(): AppError {
  return new AppError('forbidden', 'You are no longer an owner of this workspace. Ask an owner to make this change.');
}

/** A workspace always has an owner. */
export function requireOwnerLeft(member: Member, otherOwners: number): void {
  if (member.role !== 'owner' || otherOwners > 0) return;
  const message = 'This is the last owner of the workspace. Make another member owner first.';
  throw new AppError('conflict', message);
}
