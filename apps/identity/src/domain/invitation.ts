import type { AuditedFields, Cause } from '@tollkeeper/contracts';
import { AppError, type Role, type TenantId } from '@tollkeeper/kernel';
import type { Account } from './account.ts';
import type { User } from './user.ts';
import type { Workspace } from './workspace.ts';

/** An invitation expires 7 days after its creation. */
export const INVITATION_MS = 7 * 86_400_000;
/** Limits of a workspace. */
export const MAX_MEMBERS = 1_000;
export const MAX_INVITATIONS = 200;

/**
 * An owner's offer: whoever has its token may join the workspace. The e-mail says whom the owner meant, but does not
 * prove who joins.
 */
export interface Invitation {
  id: string;
  tenantId: TenantId;
  /** Lower case. */
  email: string;
  role: Role;
  /** The user id of the owner. The invitation ends when the user loses that role. */
  invitedBy: string;
  createdAt: Date;
  expiresAt: Date;
}

/** The fields of an invitation that the audit log records. */
export const AUDITED_INVITATION: AuditedFields<Pick<Invitation, 'email' | 'role'>> = {
  email: (invitation) => invitation.email,
  role: (invitation) => invitation.role,
};

/** What the holder of a token sees of its invitation. */
export interface Offer {
  invitation: Invitation;
  workspace: Workspace;
  /** Name of the owner. */
  inviterName: string;
}

/**
 * Changes reject with `forbidden` unless `ownerId`, who makes the change, is an owner at that time. Each change is
 * written to the audit trail in its transaction.
 */
export interface InvitationStore {
  /** The open invitations, newest first. */
  list(tenantId: TenantId, now: Date): Promise<Invitation[]>;
  /**
   * Stores the invitation under the digest of its token, replacing one for the same e-mail. Rejects with `conflict` if
   * a member has the e-mail, or the limits of members and invitations are reached.
   */
  add(tenantId: TenantId, ownerId: string, invitation: Invitation, tokenSha256: string, cause: Cause): Promise<void>;
  /** False if there is none with that id. */
  remove(tenantId: TenantId, ownerId: string, invitationId: string, cause: Cause): Promise<boolean>;
  /**
   * Gives the invitation a second token, which is mailed to its e-mail, and replaces an earlier mailed one. Null if it
   * can no longer be accepted.
   */
  addMailedToken(
    invitationId: string,
    tokenSha256: string,
    now: Date,
  ): Promise<Pick<Offer, 'invitation' | 'workspace'> | null>;
  /** What the token with that digest offers at `now`; null if it is not valid. */
  findOffer(tokenSha256: string, now: Date): Promise<Offer | null>;
  /**
   * Makes a user a member and consumes the invitation in one step, whatever happens concurrently. Null, with nothing
   * changed, if the token is not valid. Rejects with `conflict` if the user is already a member, the limits are
   * reached, or a chosen login name is taken.
   *
   * The mailed token proves the e-mail: it becomes verified for a new user, and for a user who already has it. Other
   * users do not get it: the owner of an e-mail may reset the password, and the mail may have been forwarded.
   */
  accept(tokenSha256: string, joining: Joining, now: Date, cause: Cause): Promise<Account | null>;
}

/** Who joins: an existing user, or a new one, who gets the first free login name. */
export type Joining = { userId: string } | { newUser: NewUser };

export interface NewUser extends Pick<User, 'id' | 'name' | 'passwordHash' | 'createdAt'> {
  /** Null to derive one from the invitation's e-mail. */
  loginName: string | null;
}

/** The page that accepts an invitation. Browsers do not send the part after the #. */
export function toInvitationUrl(publicUrl: string, token: string): string {
  return `${publicUrl}/invitation#${token}`;
}

export function membersFull(): AppError {
  return new AppError('conflict', `This workspace has the maximum of ${MAX_MEMBERS} members. Remove one first.`);
}

export function invitationsFull(): AppError {
  const message = `This workspace has the maximum of ${MAX_INVITATIONS} open invitations. Revoke one first.`;
  return new AppError('conflict', message);
}
