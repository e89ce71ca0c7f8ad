import type { AuditTrail } from '@tollkeeper/audit-trail';
import type { AuditChange, Cause } from '@tollkeeper/contracts';
import { AppError, type Clock, may, newId, type TenantId } from '@tollkeeper/kernel';
import { changeInTurn } from '@tollkeeper/mongo';
import { type ClientSession, trusted } from 'mongoose';
import { staysInWorkspace } from '../domain/member.ts';
import {
  lastOrganisationOwner,
  MAX_ORGANISATION_MEMBERS,
  MAX_ORGANISATIONS,
  MAX_WORKSPACES,
  noOrganisation,
  noOrganisationOwner,
  type Organisation,
  organisationFull,
  type OrganisationMember,
  type OrganisationStore,
  tooManyOrganisations,
} from '../domain/organisation.ts';
import type { AccountTrail } from './account.trail.ts';
import { isPersonOwning, serializeMembers } from './membership.ts';
import type { IdentityModels, StoredOrganisation } from './models.ts';
import { roleOf, withdrawInvitations } from './organisation.access.ts';
import { toUser } from './user.store.ts';

type People = StoredOrganisation['members'];

export function createOrganisationStore(
  models: IdentityModels,
  { trail, accounts, clock }: { trail: AuditTrail; accounts: AccountTrail; clock: Clock },
): OrganisationStore {
  const { connection, organisations, workspaces } = models;
  const record = createRecord(trail);
  return {
    async listOf(userId) {
      const found = await organisations.find({ 'members.userId': userId }).sort({ name: 1, _id: 1 }).lean();
      return found.map((stored) => ({ organisation: toOrganisation(stored), role: roleOf(stored, userId)! }));
    },

    async find(organisationId, userId) {
      const stored = await organisations.findById(organisationId).lean();
      const role = stored && roleOf(stored, userId);
      if (!role) throw noOrganisation();
      const [members, found] = await Promise.all([
        describe(models, stored.members),
        workspaces.find({ organisationId }, { slug: 1, name: 1 }).sort({ slug: 1 }).lean(),
      ]);
      const listed = found.map(({ _id, slug, name }) => ({ id: _id, slug, name }));
      return { organisation: toOrganisation(stored), role, members, workspaces: listed };
    },

    async ofWorkspace(tenantId) {
      const workspace = await workspaces.findById(tenantId, { organisationId: 1 }).lean();
      const stored = await organisations.findById(workspace?.organisationId ?? null).lean();
      return stored && { organisation: toOrganisation(stored), members: await describe(models, stored.members) };
    },

    create: (name, userId, cause) =>
      changeInTurn(connection, userId, async (session) => {
        await requireRoomFor(models, userId, session);
        const made: Organisation = { id: newId('org'), name, createdAt: new Date(clock()) };
        const { id, createdAt } = made;
        const owner = { userId, role: 'owner', joinedAt: createdAt } as const;
        await organisations.create([{ _id: id, name, createdAt, members: [owner] }], { session });
        await accounts.record(session, userId, cause, [{ field: 'organisation', from: null, to: name }]);
        return made;
      }),

    remove: (organisationId, ownerId, cause) =>
      changeInTurn(connection, ownerId, async (session) => {
        const { name } = await changedBy(models, organisationId, ownerId, session);
        if (await workspaces.exists({ organisationId }).session(session)) {
          throw new AppError('conflict', 'This organisation has workspaces. Remove them from it first.');
        }
        await organisations.deleteOne({ _id: organisationId }, { session });
        await accounts.record(session, ownerId, cause, [{ field: 'organisation', from: name, to: null }]);
      }),

    ...changesOfWorkspaces(models, record),
    ...changesOfMembers(models, record, clock),
  };
}

type RecordChange = ReturnType<typeof createRecord>;

/** Records in the audit logs of the workspaces in which somebody gains or loses access. */
function createRecord(trail: AuditTrail) {
  return (
    tenantIds: readonly TenantId[],
    cause: Cause,
    { _id, name }: StoredOrganisation,
    change: AuditChange,
    session: ClientSession,
  ) => trail.record(session, tenantIds, cause, { target: { type: 'organisation', id: _id, name }, changes: [change] });
}

function changesOfWorkspaces(
  models: IdentityModels,
  record: RecordChange,
): Pick<OrganisationStore, 'addWorkspace' | 'removeWorkspace'> {
  const { connection, workspaces } = models;
  return {
    addWorkspace: (organisationId, ownerId, slug, cause) =>
      changeInTurn(connection, ownerId, async (session) => {
        const stored = await changedBy(models, organisationId, ownerId, session);
        const workspace = await workspaces.findOne({ slug }).session(session).lean();
        const isOwn = workspace !== null && (await isPersonOwning(models, workspace._id, ownerId, session));
        if (!isOwn) throw noWorkspace();
        if (workspace.organisationId === organisationId) return;
        if (workspace.organisationId !== undefined) throw inAnother();
        await requireRoomIn(models, organisationId, session);
        await serializeMembers(models, workspace._id, session);
        await workspaces.updateOne({ _id: workspace._id }, { $set: { organisationId } }, { session });
        await record([workspace._id], cause, stored, { field: 'workspace', from: null, to: slug }, session);
      }),

    removeWorkspace: (organisationId, userId, slug, cause) =>
      changeInTurn(connection, userId, async (session) => {
        const workspace = await workspaces.findOne({ slug, organisationId }).session(session).lean();
        const isOwn = workspace !== null && (await isPersonOwning(models, workspace._id, userId, session));
        const stored = await (isOwn
          ? locked(models, { _id: organisationId }, session)
          : changedBy(models, organisationId, userId, session));
        if (workspace === null) throw noWorkspace();
        await serializeMembers(models, workspace._id, session);
        await workspaces.updateOne({ _id: workspace._id }, { $unset: { organisationId: 1 } }, { session });
        const people = stored.members.map((member) => member.userId);
        await withdrawInvitations(models, [workspace._id], people, session);
        await record([workspace._id], cause, stored, { field: 'workspace', from: slug, to: null }, session);
      }),
  };
}

function changesOfMembers(
  models: IdentityModels,
  record: RecordChange,
  clock: Clock,
): Pick<OrganisationStore, 'setMember' | 'removeMember'> {
  const { connection } = models;
  return {
    setMember: (organisationId, ownerId, member, cause) =>
      changeInTurn(connection, ownerId, async (session) => {
        const stored = await changedBy(models, organisationId, ownerId, session);
        const before = stored.members.find(({ userId }) => userId === member.userId);
        const tenantIds = await tenantIdsOf(models, organisationId, session);
        if (before === undefined) await requireKnown(models, tenantIds, member.userId, session);
        const others = stored.members.filter(({ userId }) => userId !== member.userId);
        if (others.length >= MAX_ORGANISATION_MEMBERS) throw organisationFull('members');
        const after = { ...member, joinedAt: before?.joinedAt ?? new Date(clock()) };
        await keep(models, organisationId, [...others, after], session);
        if (after.role !== 'owner') await withdrawInvitations(models, tenantIds, [member.userId], session);
        const [described] = await describe(models, [after], session);
        const change = { field: 'role', from: before?.role ?? null, to: after.role };
        if (change.from !== change.to) await record(tenantIds, cause, stored, change, session);
        return described!;
      }),

    removeMember: (organisationId, byId, userId, cause) =>
      changeInTurn(connection, byId, async (session) => {
        const stored = await (byId === userId
          ? locked(models, { _id: organisationId, 'members.userId': userId }, session)
          : changedBy(models, organisationId, byId, session));
        const before = roleOf(stored, userId);
        if (before === undefined) throw noMember();
        await keep(
          models,
          organisationId,
          stored.members.filter((member) => member.userId !== userId),
          session,
        );
        const tenantIds = await tenantIdsOf(models, organisationId, session);
        await withdrawInvitations(models, tenantIds, [userId], session);
        await record(tenantIds, cause, stored, { field: 'role', from: before, to: null }, session);
      }),
  };
}

function toOrganisation({ _id, name, createdAt }: StoredOrganisation): Organisation {
  return { id: _id, name, createdAt };
}

/** The organisation, whose further changes conflict with this one. Throws unless the user may change it. */
async function changedBy(
  models: IdentityModels,
  organisationId: string,
  userId: string,
  session: ClientSession,
): Promise<StoredOrganisation> {
  const stored = await locked(models, { _id: organisationId, 'members.userId': userId }, session);
  if (!may(roleOf(stored, userId)!, 'change', 'owner')) throw noOrganisationOwner();
  return stored;
}

async function locked(
  { organisations }: IdentityModels,
  which: { _id: string; 'members.userId'?: string },
  session: ClientSession,
): Promise<StoredOrganisation> {
  const stored = await organisations.findOneAndUpdate(which, { $inc: { revision: 1 } }, { session }).lean();
  if (stored === null) throw noOrganisation();
  return stored;
}

/** Throws `conflict` if no further workspace fits. */
async function requireRoomIn(
  { workspaces }: IdentityModels,
  organisationId: string,
  session: ClientSession,
): Promise<void> {
  const count = await workspaces.countDocuments({ organisationId }).session(session);
  if (count >= MAX_WORKSPACES) throw organisationFull('workspaces');
}

/** Throws unless the user is a person who may be in one more organisation. */
async function requireRoomFor(models: IdentityModels, userId: string, session: ClientSession): Promise<void> {
  const { users, organisations } = models;
  // Makes concurrent changes for the user conflict, so that all organisations are counted.
  const user = await users.findOneAndUpdate({ _id: userId }, { $inc: { membershipRevision: 1 } }, { session }).lean();
  if (user?.serviceAccount !== undefined) throw staysInWorkspace();
  const count = await organisations.countDocuments({ 'members.userId': userId }).session(session);
  if (count >= MAX_ORGANISATIONS) throw tooManyOrganisations();
}

async function tenantIdsOf(
  { workspaces }: IdentityModels,
  organisationId: string,
  session: ClientSession,
): Promise<TenantId[]> {
  return (await workspaces.find({ organisationId }, { _id: 1 }).session(session).lean()).map(({ _id }) => _id);
}

/** Throws `not_found` unless the user is a member of one of the workspaces. */
async function requireKnown(
  models: IdentityModels,
  tenantIds: readonly TenantId[],
  userId: string,
  session: ClientSession,
): Promise<void> {
  const known = { userId, tenantId: trusted({ $in: [...tenantIds] }) };
  if ((await models.members.exists(known).session(session)) === null) throw noMember();
  await requireRoomFor(models, userId, session);
}

async function keep(
  { organisations }: IdentityModels,
  organisationId: string,
  members: People,
  session: ClientSession,
): Promise<void> {
  if (!members.some(({ role }) => role === 'owner')) throw lastOrganisationOwner();
  await organisations.updateOne({ _id: organisationId }, { $set: { members } }, { session });
}

/** The members with what people call them, by name. */
async function describe(
  { users }: IdentityModels,
  members: People,
  session: ClientSession | null = null,
): Promise<OrganisationMember[]> {
  const ids = members.map(({ userId }) => userId);
  const found = await users
    .find({ _id: trusted({ $in: ids }) })
    .session(session)
    .lean();
  const byId = new Map(found.map((user) => [user._id, toUser(user)]));
  return members
    .flatMap((member) => {
      const user = byId.get(member.userId);
      if (user === undefined) return [];
      const { loginName, email, emailVerified, name } = user;
      return [{ ...member, loginName, email, emailVerified, name }];
    })
    .sort((a, b) => a.name.localeCompare(b.name, 'en') || (a.userId < b.userId ? -1 : 1));
}

function noWorkspace(): AppError {
  return new AppError('not_found', 'You own no workspace with that slug here. Ask its owner to do this.');
}

function noMember(): AppError {
  const message =
    'No member of the organisation or of its workspaces has that user_id. Invite them to a workspace first.';
  return new AppError('not_found', message);
}

function inAnother(): AppError {
  return new AppError('conflict', 'This workspace is in another organisation. Remove it from that one first.');
}
