import type { AuditTrail } from '@tollkeeper/audit-trail';
import type { AuditChange, Cause } from '@tollkeeper/contracts';
import type { TenantId } from '@tollkeeper/kernel';
import { changeInTurn } from '@tollkeeper/mongo';
import { type ClientSession, trusted } from 'mongoose';
import {
  AUDITED_INVITATION,
  type Invitation,
  type InvitationStore,
  invitationsFull,
  type Joining,
  MAX_INVITATIONS,
  MAX_MEMBERS,
  membersFull,
  type NewUser,
} from '../domain/invitation.ts';
import { alreadyMember } from '../domain/member.ts';
import { localPartOf, loginNameTaken, loginNamesFor, type User } from '../domain/user.ts';
import type { WorkspaceStore } from '../domain/workspace.ts';
import { insertMember, requireOwner, serializeMembers } from './membership.ts';
import type { IdentityModels, StoredInvitation } from './models.ts';
import { claimEmail, freeLoginName, fromUser, toUser } from './user.store.ts';

export function createInvitationStore(
  models: IdentityModels,
  workspaceStore: Pick<WorkspaceStore, 'find' | 'listOf'>,
  trail: AuditTrail,
): InvitationStore {
  const { connection, users, members, invitations } = models;
  return {
    async list(tenantId, now) {
      const stored = await invitations
        .find({ tenantId, ...openAt(now) })
        .sort({ createdAt: -1 })
        .limit(MAX_INVITATIONS)
        .lean();
      return stored.map(toInvitation);
    },

    add: (tenantId, ownerId, { id, ...fields }, tokenSha256, cause) =>
      changeInTurn(connection, tenantId, async (session) => {
        const { email, createdAt } = fields;
        await serializeMembers(models, tenantId, session);
        await requireOwner(models, tenantId, ownerId, session);
        await requireNoMember(models, tenantId, email, session);
        await invitations.deleteMany({ tenantId, email }, { session });
        const open = await invitations.countDocuments({ tenantId, ...openAt(createdAt) }).session(session);
        if (open >= MAX_INVITATIONS) throw invitationsFull();
        if ((await members.countDocuments({ tenantId }).session(session)) >= MAX_MEMBERS) throw membersFull();
        await invitations.create([{ _id: id, tokenSha256, ...fields }], { session });
        await record(trail, session, tenantId, cause, { before: null, after: { id, ...fields } });
      }),

    remove: (tenantId, ownerId, invitationId, cause) =>
      changeInTurn(connection, tenantId, async (session) => {
        await serializeMembers(models, tenantId, session);
        await requireOwner(models, tenantId, ownerId, session);
        const removed = await invitations.findOneAndDelete({ _id: invitationId, tenantId }, { session }).lean();
        if (removed === null) return false;
        await record(trail, session, tenantId, cause, { before: toInvitation(removed), after: null });
        return true;
      }),

    async addMailedToken(invitationId, mailedTokenSha256, now) {
      const stored = await invitations
        .findOneAndUpdate({ _id: invitationId, ...openAt(now) }, { $set: { mailedTokenSha256 } })
        .lean();
      const workspace = stored && (await workspaceStore.find(stored.tenantId));
      return workspace && { invitation: toInvitation(stored), workspace };
    },

    async findOffer(tokenSha256, now) {
      const stored = await invitations.findOne(ofToken(tokenSha256, now)).lean();
      if (stored === null) return null;
      const [workspace, inviter] = await Promise.all([
        workspaceStore.find(stored.tenantId),
        users.findById(stored.invitedBy).lean(),
      ]);
      if (workspace === null) return null;
      return { invitation: toInvitation(stored), workspace, inviterName: inviter?.name ?? '' };
    },

    async accept(tokenSha256, joining, now, cause) {
      const offered = await invitations.findOne(ofToken(tokenSha256, now), { tenantId: 1 }).lean();
      if (offered === null) return null;
      const userId = await changeInTurn(connection, offered.tenantId, async (session) => {
        const stored = await invitations.findOneAndDelete(ofToken(tokenSha256, now), { session }).lean();
        if (stored === null) return null;
        await serializeMembers(models, stored.tenantId, session);
        const joined = await join(models, stored, joining, now, session);
        const isMailed = stored.mailedTokenSha256 === tokenSha256;
        const verified = isMailed ? await verifyEmail(models, joined, stored.email, session) : [];
        const changes = [{ field: 'role', from: null, to: stored.role }, ...verified];
        await trail.record(session, stored.tenantId, cause, { target: targetOf(toInvitation(stored)), changes });
        return joined;
      });
      if (userId === null) return null;
      const [user, workspaces] = await Promise.all([users.findById(userId).lean(), workspaceStore.listOf(userId)]);
      return user === null ? null : { user: toUser(user), workspaces };
    },
  };
}

function toInvitation(stored: StoredInvitation): Invitation {
  const { _id, tenantId, email, role, invitedBy, createdAt, expiresAt } = stored;
  return { id: _id, tenantId, email, role, invitedBy, createdAt, expiresAt };
}

const openAt = (now: Date) => ({ expiresAt: trusted({ $gt: now }) });
const ofToken = (sha256: string, now: Date) => ({
  $or: [{ tokenSha256: sha256 }, { mailedTokenSha256: sha256 }],
  ...openAt(now),
});

async function requireNoMember(
  models: IdentityModels,
  tenantId: TenantId,
  email: string,
  session: ClientSession,
): Promise<void> {
  const { users, members } = models;
  const found = await users.find({ email }, { _id: 1 }, { session }).lean();
  const userId = trusted({ $in: found.map(({ _id }) => _id) });
  if (await members.exists({ tenantId, userId }).session(session)) throw alreadyMember();
}

/** With the e-mail of the invitation, which this does not verify. */
async function insertUser(
  { users }: IdentityModels,
  newUser: NewUser,
  email: string,
  session: ClientSession,
): Promise<void> {
  const names = newUser.loginName === null ? loginNamesFor(localPartOf(email)) : [newUser.loginName];
  const loginName = await freeLoginName(users, names, session);
  if (loginName === null) throw loginNameTaken();
  const user: User = { ...newUser, loginName, email, emailVerified: false };
  await users.create([fromUser(user)], { session });
}

/** Returns the id of the user. */
async function join(
  models: IdentityModels,
  stored: StoredInvitation,
  joining: Joining,
  now: Date,
  session: ClientSession,
): Promise<string> {
  const { tenantId, role, email } = stored;
  if ('newUser' in joining) await insertUser(models, joining.newUser, email, session);
  const userId = 'newUser' in joining ? joining.newUser.id : joining.userId;
  await insertMember(models, { tenantId, userId, role, joinedAt: now, source: 'invitation' }, session);
  return userId;
}

type Offered = Pick<Invitation, 'id' | 'email' | 'role'>;
const targetOf = ({ id, email }: Offered) => ({ type: 'invitation', id, name: email });

/** The effect of a mailed token. */
async function verifyEmail(
  { users }: IdentityModels,
  userId: string,
  email: string,
  session: ClientSession,
): Promise<AuditChange[]> {
  const stored = await users.findById(userId).session(session).lean();
  const user = stored && toUser(stored);
  if (user?.email !== email || user.emailVerified) return [];
  await claimEmail(users, userId, email, session);
  return [{ field: 'email_verified', from: false, to: true }];
}

function record(
  trail: AuditTrail,
  session: ClientSession,
  tenantId: TenantId,
  cause: Cause,
  { before, after }: Record<'before' | 'after', Offered | null>,
): Promise<void> {
  const target = targetOf((after ?? before)!);
  return trail.recordChange(session, tenantId, cause, { target, fields: AUDITED_INVITATION, before, after });
}
