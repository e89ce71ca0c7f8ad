import type { AuditedFields, Cause } from '@tollkeeper/contracts';
import { AppError, type Role, type TenantId } from '@tollkeeper/kernel';
import type { Account } from './account.ts';
import type { User } from './user.ts';
import type { Workspace } from './workspace.ts';

/** An invitation ends 7 days after it was made. */
export const INVITATION_MS = 7 * 86_400_000;
/** Limits of a workspace. */
export const MAX_MEMBERS = 1_000;
export const MAX_INVITATIONS = 200;

/**
 * The offer of an owner that whoever comes with its token may join the workspace. The e-mail says whom the owner meant,
 * and proves nothing about who comes.
 */
export interface Invitation {
  id: string;
  tenantId: TenantId;
  /** Lower case. */
  email: string;
  role: Role;
  /** The user id of the owner. The invitation ends when they lose that role. */
  invitedBy: string;
  createdAt: Date;
  expiresAt: Date;
}

/** The fields of an invitation that the audit log records. */
export const AUDITED_INVITATION: AuditedFields<Pick<Invitation, 'email' | 'role'>> = {
  email: (invitation) => invitation.email,
  role: (invitation) => invitation.role,
};

/** What an invitation says to whoever has its token. */
export interface Offer {
  invitation: Invitation;
  workspace: Workspace;
  /** Name of the owner. */
  inviterName: string;
}

/**
 * Changes reject with `forbidden` unless `ownerId`, who makes the change, is an owner at the time of the change. Each
 * is written to the audit trail in its transaction.
 */
export interface InvitationStore {
  /** Those that can still be accepted, newest first. */
  list(tenantId: TenantId, now: Date): Promise<Invitation[]>;
  /**
   * Stores the invitation under the digest of its token, in place of one for the same e-mail. Rejects with `conflict`
   * when a member has the e-mail, or when the members and invitations have reached their limits.
   */
  add(tenantId: TenantId, ownerId: string, invitation: Invitation, tokenSha256: string, cause: Cause): Promise<void>;
  /** False when there is none with that id. */
  remove(tenantId: TenantId, ownerId: string, invitationId: string, cause: Cause): Promise<boolean>;
  /**
   * Gives the invitation a second token, which is mailed to its e-mail, in place of one that was mailed before. Null
   * when it cannot be accepted any more.
   */
  addMailedToken(
    invitationId: string,
    tokenSha256: string,
    now: Date,
  ): Promise<Pick<Offer, 'invitation' | 'workspace'> | null>;
  /** What the token with that digest offers at `now`; null when that is nothing. */
  findOffer(tokenSha256: string, now: Date): Promise<Offer | null>;
  /**
   * Makes a user a member and uses the invitation up, both or neither, whoever else does so at the same moment. Null,
   * with nothing changed, when the token offers nothing. Rejects with `conflict` when the user is a member already, the
   * limits are reached, or a login name that was chosen is taken.
   *
   * The mailed token proves the e-mail: a new user has it as verified, and so has a user whose e-mail it is already. To
   * others it is not given, since whoever owns an e-mail may reset the password, and the mail may have been passed on.
   */
  accept(tokenSha256: string, joining: Joining, now: Date, cause: Cause): Promise<Account | null>;
}

/** Who joins: a user, or a new one that gets the first of the login names that is free. */
export type Joining = { userId: string } | { newUser: NewUser };

export interface NewUser extends Pick<User, 'id' | 'name' | 'passwordHash' | 'createdAt'> {
  /** Null to make one of the invitation's e-mail. */
  loginName: string | null;
}

/** The page that accepts an invitation. Browsers keep what follows the # to themselves. */
export function toInvitationUrl(publicUrl: string, token: string): string {
  return `${publicUrl}/invitation#${token}`;
}

export function membersFull(): AppError {
  return new AppError('conflict', `This workspace has ${MAX_MEMBERS} members, the most for one. Remove one first.`);
}

export function invitationsFull(): AppError {
  const message = `This workspace has ${MAX_INVITATIONS} open invitations, the most for one. Revoke one first.`;
  return new AppError('conflict', message);
}
