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

export interface MemberStore {
  /** The members by e-mail. */
  list(tenantId: TenantId): Promise<Member[]>;
  /** Makes the user of `newUser.email` a member; keeps `newUser` first when there is none with that e-mail. */
  add(tenantId: TenantId, newUser: User, role: Role, joinedAt: Date): Promise<AddedMember>;
  /**
   * Sets the role that `decide` answers, or ends the membership where it answers null. `otherOwners` is their number as of
   * this very change: changes in one workspace happen one after the other. Null when the user is no member; a throw
   * of `decide` changes nothing and is passed on.
   */
  change(
    tenantId: TenantId,
    userId: string,
    decide: (member: Member, otherOwners: number) => Role | null,
  ): Promise<Member | null>;
}

/** A workspace always has an owner (decisions §2). */
export function requireOwnerLeft(member: Member, otherOwners: number): void {
  if (member.role !== 'owner' || otherOwners > 0) return;
  const message = 'This is the last owner of the workspace. Make another member owner first.';
  throw new AppError('conflict', message);
}
