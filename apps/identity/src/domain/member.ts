import type { AuditedFields, Cause } from '@tollkeeper/contracts';
import { AppError, type Role, type TenantId } from '@tollkeeper/kernel';
import type { User } from './user.ts';

/**
 * The origin of a membership: an owner or the creation of the workspace, an invitation, or single sign-on. Service
 * accounts, and no people, have `machine`.
 */
export const MEMBERSHIP_SOURCES = ['manual', 'invitation', 'oidc', 'machine'] as const;
export type MembershipSource = (typeof MEMBERSHIP_SOURCES)[number];

/** The most workspaces for one user. */
export const MAX_MEMBERSHIPS = 100;

/** A user in a workspace. */
export interface Member extends Pick<User, 'loginName' | 'email' | 'emailVerified' | 'name' | 'serviceAccount'> {
  userId: string;
  role: Role;
  source: MembershipSource;
  joinedAt: Date;
}

/** The fields of a member that the audit log records. */
export const AUDITED_MEMBER: AuditedFields<Pick<Member, 'role'>> = { role: (member) => member.role };

/**
 * Changes reject with `forbidden` unless `ownerId`, who makes the change, is an owner at that time. The gateway's roles
 * are some seconds old, and a user who just lost the role must not restore it. Each change is written to the audit
 * trail in its transaction.
 */
export interface MemberStore {
  /** The members, ordered by e-mail, or by login name without one. */
  list(tenantId: TenantId): Promise<Member[]>;
  /**
   * Sets the role that `decide` returns, or ends the membership if it returns null. A former owner's open invitations
   * end. `otherOwners` is the number of other people who are owners at that time: changes of a workspace are
   * serialized. Null if the user is not a member. If `decide` throws, nothing changes and the error is passed on.
   */
  change(
    tenantId: TenantId,
    ownerId: string,
    userId: string,
    decide: (member: Member, otherOwners: number) => Role | null,
    cause: Cause,
  ): Promise<Member | null>;
  /** Ends the user's own membership, under the rules of `change`. False if the user is not a member. */
  leave(
    tenantId: TenantId,
    userId: string,
    allow: (member: Member, otherOwners: number) => void,
    cause: Cause,
  ): Promise<boolean>;
}

export function tooManyMemberships(): AppError {
  const message = `You are a member of the maximum of ${MAX_MEMBERSHIPS} workspaces. Leave one first.`;
  return new AppError('conflict', message);
}

/** The error for a user who is no longer an owner. */
export function noOwner(): AppError {
  return new AppError('forbidden', 'You are no longer an owner of this workspace. Ask an owner to make this change.');
}

/** The error for a service account, whose access would otherwise outlast its rule. */
export function noPerson(): AppError {
  const message = 'Service accounts cannot change members or invitations. A person who is an owner can.';
  return new AppError('forbidden', message);
}

/** The error for a service account that would join or create another workspace. */
export function staysInWorkspace(): AppError {
  return new AppError(
    'forbidden',
    'Service accounts belong to one workspace. Log in as a person to join or create one.',
  );
}

export function alreadyMember(): AppError {
  const details = [{ path: 'email', message: 'is already a member; change the role instead' }];
  const message = 'That user is already a member of the workspace. An owner can change the role.';
  return new AppError('conflict', message, { details });
}

/** A workspace always has an owner who is a person. */
export function requireOwnerLeft(member: Member, otherOwners: number): void {
  if (member.role !== 'owner' || member.source === 'machine' || otherOwners > 0) return;
  const message = 'This is the last owner of the workspace. Make another person owner first.';
  throw new AppError('conflict', message);
}
