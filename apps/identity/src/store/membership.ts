import type { TenantId } from '@tollkeeper/kernel';
import type { ClientSession } from 'mongoose';
import { MAX_MEMBERS, membersFull } from '../domain/invitation.ts';
import { alreadyMember, noOwner, tooManyMemberships, MAX_MEMBERSHIPS } from '../domain/member.ts';
import type { IdentityModels, StoredMember } from './models.ts';

/** Makes changes of who is in a workspace conflict, so that they happen one after the other. */
export async function serializeMembers(
  { workspaces }: IdentityModels,
  tenantId: TenantId,
  session: ClientSession,
): Promise<void> {
  await workspaces.updateOne({ _id: tenantId }, { $inc: { memberRevision: 1 } }, { session });
}

/** Read within the serialised changes, so that no role changes meanwhile. */
export async function requireOwner(
  { members }: IdentityModels,
  tenantId: TenantId,
  ownerId: string,
  session: ClientSession,
): Promise<void> {
  if (!(await members.exists({ tenantId, userId: ownerId, role: 'owner' }).session(session))) throw noOwner();
}

/**
 * Stores a new membership within the serialised changes of its workspace. Throws `conflict` for a user who is a member
 * already, and when the user or the workspace has as many as there may be.
 */
export async function insertMember(
  { users, members }: IdentityModels,
  member: StoredMember,
  session: ClientSession,
): Promise<void> {
  const { tenantId, userId } = member;
  // Two workspaces that a user joins at the same moment conflict, so that both are counted.
  await users.updateOne({ _id: userId }, { $inc: { membershipRevision: 1 } }, { session });
  if (await members.exists({ tenantId, userId }).session(session)) throw alreadyMember();
  if ((await members.countDocuments({ userId }).session(session)) >= MAX_MEMBERSHIPS) throw tooManyMemberships();
  if ((await members.countDocuments({ tenantId }).session(session)) >= MAX_MEMBERS) throw membersFull();
  await members.create([member], { session });
}
