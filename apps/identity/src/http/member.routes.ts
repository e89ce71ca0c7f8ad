import { displayName, identifier, moment, workspaceRole } from '@tollkeeper/contracts';
import { defineRoute, type Route } from '@tollkeeper/http';
import { z } from 'zod';
import { type Member, MEMBERSHIP_SOURCES } from '../domain/member.ts';
import type { InvitationUseCases } from '../domain/invitation.use-cases.ts';
import type { MemberUseCases } from '../domain/member.use-cases.ts';
import type { OrganisationAccess, OrganisationStore } from '../domain/organisation.ts';
import { newInvitation, toNewInvitationBody } from './invitation.routes.ts';
import { organisationMember, toOrganisationMemberBody } from './organisation.routes.ts';
import { email, toUserBody, userFields } from './schemas.ts';

const PATH = '/api/v1/members';
const TAG = 'Members';

const memberFields = {
  user_id: z.string(),
  ...userFields,
  role: workspaceRole,
  source: z.enum(MEMBERSHIP_SOURCES).meta({ description: 'How the user became a member' }),
  joined_at: moment,
};
const memberSchema = z
  .object({
    ...memberFields,
    service_account: z
      .object({ provider: z.string(), issuer: z.string(), subject: z.string() })
      .optional()
      .meta({ description: 'Of the last token of a service account; absent for people' }),
  })
  .meta({ id: 'Member' });
const accessSchema = z.object({ id: z.string(), name: z.string(), members: z.array(organisationMember) }).meta({
  id: 'OrganisationAccess',
  description: 'The organisation of a workspace, with the people who have access by it',
});
const membersSchema = z.object({ items: z.array(memberSchema), organisation: accessSchema.optional() });
const invitedMember = z
  .object({
    ...memberFields,
    user_id: z.string().meta({ description: 'Id of the invitation, because there is no user yet' }),
    login_name: z.string().meta({ description: 'Empty until somebody joins' }),
    joined_at: moment.meta({ description: 'When the invitation was created' }),
    status: z.literal('invited'),
    invitation: newInvitation,
  })
  .meta({ id: 'AddedMember' });
const params = z.object({ user_id: identifier.meta({ description: 'Id of the user' }) });

/** Members of a workspace, for its owners. Gateways apply changes within 5 seconds. */
export function createMemberRoutes(deps: MemberRoutesDeps, publicUrl: string): Route[] {
  return [...routesOfAll(deps, publicUrl), ...routesOfOne(deps.members)];
}

interface MemberRoutesDeps {
  members: MemberUseCases;
  invitations: Pick<InvitationUseCases, 'invite'>;
  organisations: Pick<OrganisationStore, 'ofWorkspace'>;
}

function routesOfAll({ members, invitations, organisations }: MemberRoutesDeps, publicUrl: string): Route[] {
  return [
    defineRoute({
      method: 'get',
      path: PATH,
      operationId: 'listMembers',
      tag: TAG,
      summary: 'List the members of the workspace',
      access: 'owner',
      responses: { 200: { description: 'The members, by e-mail', schema: membersSchema } },
      handler: async ({ caller }) => {
        const items = (await members.list(caller.tenantId)).map(toMemberBody);
        const found = await organisations.ofWorkspace(caller.tenantId);
        return { status: 200, body: { items, ...(found !== null && { organisation: toAccessBody(found) }) } };
      },
    }),
    defineRoute({
      method: 'post',
      audit: 'invitation.create',
      path: PATH,
      operationId: 'addMember',
      tag: TAG,
      summary: 'Invite someone to the workspace',
      description:
        'Same as `POST /api/v1/invitations`, which is preferred: nobody becomes a member without accepting. `name` is ignored; the person who joins chooses it.',
      access: 'owner',
      body: z.strictObject({ email, role: workspaceRole, name: displayName.optional() }),
      responses: { 201: { description: 'The invitation, in the form of a member', schema: invitedMember } },
      handler: async ({ caller, body: { email: address, role, name = '' }, cause }) => {
        const made = await invitations.invite(caller.tenantId, caller.userId, { email: address, role }, cause);
        return { status: 201, body: toInvitedBody(toNewInvitationBody(made, publicUrl), name) };
      },
    }),
  ];
}

function routesOfOne(members: MemberUseCases): Route[] {
  return [
    defineRoute({
      method: 'delete',
      audit: 'member.leave',
      path: `${PATH}/me`,
      operationId: 'leaveWorkspace',
      tag: TAG,
      summary: 'Leave the workspace',
      description: '409 for the last owner. Your account and your other workspaces do not change.',
      access: 'any',
      responses: { 204: { description: 'You are no longer a member' } },
      handler: async ({ caller, cause }) => {
        await members.leave(caller.tenantId, caller.userId, cause);
        return { status: 204 };
      },
    }),
    defineRoute({
      method: 'patch',
      audit: 'member.role.change',
      path: `${PATH}/{user_id}`,
      operationId: 'setMemberRole',
      tag: TAG,
      summary: 'Change the role of a member',
      description: '409 for the last owner, who must keep the role.',
      access: 'owner',
      params,
      body: z.strictObject({ role: workspaceRole }),
      responses: { 200: { description: 'The member as it is now', schema: memberSchema } },
      handler: async ({ caller, params: { user_id: userId }, body, cause }) => {
        const member = await members.setRole(caller.tenantId, caller.userId, userId, body.role, cause);
        return { status: 200, body: toMemberBody(member) };
      },
    }),
    defineRoute({
      method: 'delete',
      audit: 'member.remove',
      path: `${PATH}/{user_id}`,
      operationId: 'removeMember',
      tag: TAG,
      summary: 'Remove a member from the workspace',
      description: '409 for the last owner. The user and their other workspaces do not change.',
      access: 'owner',
      params,
      responses: { 204: { description: 'No longer a member' } },
      handler: async ({ caller, params: { user_id: userId }, cause }) => {
        await members.remove(caller.tenantId, caller.userId, userId, cause);
        return { status: 204 };
      },
    }),
  ];
}

function toAccessBody({ organisation: { id, name }, members }: OrganisationAccess): z.infer<typeof accessSchema> {
  return { id, name, members: members.map(toOrganisationMemberBody) };
}

function toMemberBody(member: Member): z.infer<typeof memberSchema> {
  const { userId, role, source, joinedAt, serviceAccount } = member;
  const fields = { user_id: userId, ...toUserBody(member), role, source, joined_at: joinedAt.toISOString() };
  if (serviceAccount === undefined) return fields;
  const { providerId, issuer, subject } = serviceAccount;
  return { ...fields, service_account: { provider: providerId, issuer, subject } };
}

function toInvitedBody(invitation: z.infer<typeof newInvitation>, name: string): z.infer<typeof invitedMember> {
  const { id, email: address, role, created_at: invitedAt } = invitation;
  const person = { login_name: '', email: address, email_verified: false, name };
  return { user_id: id, ...person, role, source: 'invitation', joined_at: invitedAt, status: 'invited', invitation };
}
