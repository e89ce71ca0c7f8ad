import type { AuditTrail } from '@tollkeeper/audit-trail';
import { type Cause, changesOf } from '@tollkeeper/contracts';
import type { Role, TenantId } from '@tollkeeper/kernel';
import { type ClientSession, trusted } from 'mongoose';
import { MAX_MEMBERS, membersFull } from '../domain/invitation.ts';
import {
  alreadyMember,
  AUDITED_MEMBER,
  type Member,
  noOwner,
  tooManyMemberships,
  MAX_MEMBERSHIPS,
} from '../domain/member.ts';
import type { IdentityModels, StoredMember, StoredUser } from './models.ts';
import { toUser } from './user.store.ts';

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

/** What becomes of a membership: the role that `decide` returns, or null for its end. */
export interface MemberChange {
  tenantId: TenantId;
  userId: string;
  decide: (member: Member, otherOwners: number) => Role | null;
  cause: Cause;
}

/**
 * Ends or changes a membership within the serialised changes of its workspace, and tells the audit log of it. Null when
 * the user is no member.
 */
export async function changeMember(
  { users, members, invitations }: IdentityModels,
  trail: AuditTrail,
  { tenantId, userId, decide, cause }: MemberChange,
  session: ClientSession,
): Promise<Member | null> {
  const stored = await members.findOne({ tenantId, userId }).session(session).lean();
  const user = await users.findById(userId).session(session).lean();
  if (stored === null || user === null) return null;
  const otherOwners = await members
    .countDocuments({ tenantId, role: 'owner', userId: trusted({ $ne: userId }) })
    .session(session);
  const member = toMember(stored, user);
  const role = decide(member, otherOwners);
  if (role === null) await members.deleteOne({ tenantId, userId }, { session });
  else await members.updateOne({ tenantId, userId }, { $set: { role } }, { session });
  const changes = changesOf(AUDITED_MEMBER, member, role === null ? null : { role });
  if (role !== 'owner') {
    // What an owner offered must not bring them back, or anybody else, after they have lost the role.
    const { deletedCount } = await invitations.deleteMany({ tenantId, invitedBy: userId }, { session });
    if (deletedCount > 0) changes.push({ field: 'invitations_withdrawn', from: null, to: deletedCount });
  }
  const target = { type: 'member', id: userId, name: member.name };
  if (changes.length > 0) await trail.record(session, tenantId, cause, { target, changes });
  return { ...member, role: role ?? member.role };
}

export function toMember({ userId, role, source, joinedAt }: StoredMember, stored: StoredUser): Member {
  const { loginName, email, emailVerified, name } = toUser(stored);
  return { userId, loginName, email, emailVerified, name, role, source, joinedAt };
}
