import type { Cause } from '@tollkeeper/contracts';
import { AppError, type Role, type TenantId } from '@tollkeeper/kernel';
import type { User } from './user.ts';

/** A role in an organisation is the same role in each of its workspaces. */
export const ORGANISATION_ROLES = ['finance', 'owner'] as const satisfies readonly Role[];
export type OrganisationRole = (typeof ORGANISATION_ROLES)[number];

export const MAX_ORGANISATIONS = 5;
export const MAX_WORKSPACES = 100;
export const MAX_ORGANISATION_MEMBERS = 50;

/** A group of workspaces. A workspace is in one at most. */
export interface Organisation {
  id: string;
  name: string;
  createdAt: Date;
}

export interface OrganisationMember extends Pick<User, 'loginName' | 'email' | 'emailVerified' | 'name'> {
  userId: string;
  role: OrganisationRole;
  joinedAt: Date;
}

/** An organisation with the role of one of its members. */
export interface OrganisationOfUser {
  organisation: Organisation;
  role: OrganisationRole;
}

/** The people who have access by an organisation, by name. */
export interface OrganisationAccess {
  organisation: Organisation;
  members: OrganisationMember[];
}

/** An organisation as its members see it. */
interface OrganisationDetails extends OrganisationOfUser, OrganisationAccess {
  /** By slug. */
  workspaces: { id: TenantId; slug: string; name: string }[];
}

/**
 * Rejects with `not_found` for organisations of others, as for those that do not exist, and with `forbidden` if the
 * user may not change the organisation. Changes are serialized, and written to the audit logs of the workspaces in
 * which somebody gains or loses access.
 */
export interface OrganisationStore {
  /** The organisations of a user, by name. */
  listOf(userId: string): Promise<OrganisationOfUser[]>;
  find(organisationId: string, userId: string): Promise<OrganisationDetails>;
  /** Null if the workspace is in none. */
  ofWorkspace(tenantId: TenantId): Promise<OrganisationAccess | null>;
  /** A new one with its first owner. Rejects with `conflict` if the user is in too many. */
  create(name: string, ownerId: string, cause: Cause): Promise<Organisation>;
  /** Rejects with `conflict` while it has workspaces. */
  remove(organisationId: string, ownerId: string, cause: Cause): Promise<void>;
  /**
   * Adds a workspace of which the user is an owner too. Does nothing if it is in the organisation. Rejects with
   * `conflict` if it is in another one, or the organisation is full.
   */
  addWorkspace(organisationId: string, ownerId: string, slug: string, cause: Cause): Promise<void>;
  /** For owners of the organisation, and for owners of the workspace. */
  removeWorkspace(organisationId: string, userId: string, slug: string, cause: Cause): Promise<void>;
  /**
   * Gives a role to a member of one of the workspaces, or of the organisation. Nobody else can be named, so no answer
   * says who has an account. Rejects with `conflict` if no owner would be left, or too many members or organisations.
   */
  setMember(
    organisationId: string,
    ownerId: string,
    member: Pick<OrganisationMember, 'userId' | 'role'>,
    cause: Cause,
  ): Promise<OrganisationMember>;
  /** For owners, and for the member. Rejects with `conflict` if no owner would be left. */
  removeMember(organisationId: string, byId: string, userId: string, cause: Cause): Promise<void>;
}

export function noOrganisation(): AppError {
  return new AppError('not_found', 'You have no organisation with that organisation_id.');
}

export function noOrganisationOwner(): AppError {
  return new AppError('forbidden', 'Only owners of the organisation can change it. Ask one of them.');
}

/** The error where the last owner would go. */
export function lastOrganisationOwner(): AppError {
  const message = 'This is the last owner of the organisation. Make another person owner first.';
  return new AppError('conflict', message);
}

export function tooManyOrganisations(): AppError {
  const message = `One person can be in ${MAX_ORGANISATIONS} organisations. Leave one first.`;
  return new AppError('conflict', message);
}

export function organisationFull(what: 'workspaces' | 'members'): AppError {
  const most = { workspaces: MAX_WORKSPACES, members: MAX_ORGANISATION_MEMBERS }[what];
  return new AppError('conflict', `This organisation has the maximum of ${most} ${what}. Remove one first.`);
}
