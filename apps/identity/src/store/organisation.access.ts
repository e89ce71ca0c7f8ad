import type { Role, TenantId } from '@tollkeeper/kernel';
import { type ClientSession, trusted } from 'mongoose';
import type { OrganisationRole } from '../domain/organisation.ts';
import type { IdentityModels, StoredOrganisation } from './models.ts';

export function roleOf({ members }: StoredOrganisation, userId: string): OrganisationRole | undefined {
  return members.find((member) => member.userId === userId)?.role;
}

/** The roles that a user has in workspaces by organisations. */
export async function rolesByOrganisation(
  { organisations, workspaces }: IdentityModels,
  userId: string,
  session: ClientSession | null,
): Promise<{ tenantId: TenantId; role: Role }[]> {
  const found = await organisations.find({ 'members.userId': userId }).session(session).lean();
  if (found.length === 0) return [];
  const roles = new Map(found.map((stored) => [stored._id, roleOf(stored, userId)]));
  const within = { organisationId: trusted({ $in: [...roles.keys()] }) };
  const grouped = await workspaces.find(within, { organisationId: 1 }).session(session).lean();
  return grouped.flatMap(({ _id, organisationId = '' }) => {
    const role = roles.get(organisationId);
    return role === undefined ? [] : [{ tenantId: _id, role }];
  });
}

/**
 * Whether the user is an owner of the workspace's organisation. Makes the change conflict with those of the
 * organisation, so that nobody uses a right that they lose at the same time.
 */
export async function isOwnerByOrganisation(
  { workspaces, organisations }: IdentityModels,
  tenantId: TenantId,
  userId: string,
  session: ClientSession,
): Promise<boolean> {
  const workspace = await workspaces.findById(tenantId, { organisationId: 1 }).session(session).lean();
  if (workspace?.organisationId === undefined) return false;
  const owned = { _id: workspace.organisationId, members: trusted({ $elemMatch: { userId, role: 'owner' } }) };
  return (await organisations.findOneAndUpdate(owned, { $inc: { revision: 1 } }, { session }).lean()) !== null;
}

/** Ends the open invitations of users who are no longer owners of these workspaces. */
export async function withdrawInvitations(
  { members, invitations }: IdentityModels,
  tenantIds: readonly TenantId[],
  userIds: readonly string[],
  session: ClientSession,
): Promise<void> {
  const tenantId = trusted({ $in: [...tenantIds] });
  const made = await invitations
    .find({ tenantId, invitedBy: trusted({ $in: [...userIds] }) }, { tenantId: 1, invitedBy: 1 })
    .session(session)
    .lean();
  if (made.length === 0) return;
  const owning = { tenantId, role: 'owner' as const, userId: trusted({ $in: [...userIds] }) };
  const owners = await members.find(owning, { tenantId: 1, userId: 1 }).session(session).lean();
  const still = new Set(owners.map((owner) => `${owner.tenantId} ${owner.userId}`));
  const ended = made.filter((invitation) => !still.has(`${invitation.tenantId} ${invitation.invitedBy}`));
  await invitations.deleteMany({ _id: trusted({ $in: ended.map(({ _id }) => _id) }) }, { session });
}
