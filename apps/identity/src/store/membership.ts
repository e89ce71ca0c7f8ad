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
  noPerson,
  staysInWorkspace,
  tooManyMemberships,
  MAX_MEMBERSHIPS,
} from '../domain/member.ts';
import type { IdentityModels, StoredMember, StoredUser } from './models.ts';
import { isOwnerByOrganisation } from './organisation.access.ts';
import { toUser } from './user.store.ts';

/** Makes concurrent changes of a workspace's members conflict, so that they are serialized. */
export async function serializeMembers(
  { workspaces }: IdentityModels,
  tenantId: TenantId,
  session: ClientSession,
): Promise<void> {
  await workspaces.updateOne({ _id: tenantId }, { $inc: { memberRevision: 1 } }, { session });
}

/**
 * Throws unless the user is a person and an owner. Call it within the serialized changes, so that no role changes
 * meanwhile.
 */
export async function requireOwner(
  models: IdentityModels,
  tenantId: TenantId,
  ownerId: string,
  session: ClientSession,
): Promise<void> {
  const owning = { tenantId, userId: ownerId, role: 'owner' } as const;
  const owner = await models.members.findOne(owning).session(session).lean();
  if (owner?.source === 'machine') throw noPerson();
  if (owner === null && !(await isOwnerByOrganisation(models, tenantId, ownerId, session))) throw noOwner();
}

/** Whether the user is a person and an owner of the workspace itself. */
export async function isPersonOwning(
  { members }: IdentityModels,
  tenantId: TenantId,
  userId: string,
  session: ClientSession,
): Promise<boolean> {
  const owning = { tenantId, userId, role: 'owner' as const, source: trusted({ $ne: 'machine' as const }) };
  return (await members.exists(owning).session(session)) !== null;
}

/**
 * Stores a new membership within the serialized changes of its workspace. Throws `conflict` if the user is already a
 * member, or the user or the workspace is at its limit, and `forbidden` for a service account of another workspace.
 */
export async function insertMember(
  { users, members }: IdentityModels,
  member: StoredMember,
  session: ClientSession,
): Promise<void> {
  const { tenantId, userId, source } = member;
  // Makes a user's concurrent joins of two workspaces conflict, so that both are counted.
  const user = await users.findOneAndUpdate({ _id: userId }, { $inc: { membershipRevision: 1 } }, { session }).lean();
  if (user?.serviceAccount !== undefined && source !== 'machine') throw staysInWorkspace();
  if (await members.exists({ tenantId, userId }).session(session)) throw alreadyMember();
  if ((await members.countDocuments({ userId }).session(session)) >= MAX_MEMBERSHIPS) throw tooManyMemberships();
  if ((await members.countDocuments({ tenantId }).session(session)) >= MAX_MEMBERS) throw membersFull();
  await members.create([member], { session });
}

/** A change of a membership: to the role that `decide` returns, or null to end it. */
export interface MemberChange {
  tenantId: TenantId;
  userId: string;
  decide: (member: Member, otherOwners: number) => Role | null;
  cause: Cause;
}

/**
 * Ends or changes a membership within the serialized changes of its workspace, and writes it to the audit log. Null if
 * the user is not a member.
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
    .countDocuments({
      ...{ tenantId, role: 'owner', userId: trusted({ $ne: userId }), source: trusted({ $ne: 'machine' }) },
    })
    .session(session);
  const member = toMember(stored, user);
  const role = decide(member, otherOwners);
  if (role === null) await members.deleteOne({ tenantId, userId }, { session });
  else await members.updateOne({ tenantId, userId }, { $set: { role } }, { session });
  const changes = changesOf(AUDITED_MEMBER, member, role === null ? null : { role });
  if (role !== 'owner') {
    // An invitation of a former owner must not bring back the owner, or anybody else.
    const { deletedCount } = await invitations.deleteMany({ tenantId, invitedBy: userId }, { session });
    if (deletedCount > 0) changes.push({ field: 'invitations_withdrawn', from: null, to: deletedCount });
  }
  const target = { type: 'member', id: userId, name: member.name };
  if (changes.length > 0) await trail.record(session, tenantId, cause, { target, changes });
  return { ...member, role: role ?? member.role };
}

export function toMember({ userId, role, source, joinedAt }: StoredMember, stored: StoredUser): Member {
  const { loginName, email, emailVerified, name, serviceAccount } = toUser(stored);
  const machine = serviceAccount === undefined ? {} : { serviceAccount };
  return { userId, loginName, email, emailVerified, name, role, source, joinedAt, ...machine };
}
