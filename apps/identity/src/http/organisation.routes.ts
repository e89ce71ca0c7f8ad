import { displayName, identifier, moment } from '@tollkeeper/contracts';
import { defineRoute, type Route } from '@tollkeeper/http';
import { z } from 'zod';
import {
  MAX_ORGANISATIONS,
  MAX_WORKSPACES,
  type OrganisationMember,
  type OrganisationOfUser,
  ORGANISATION_ROLES,
  type OrganisationStore,
} from '../domain/organisation.ts';
import { slug, toUserBody, userFields } from './schemas.ts';

const PATH = '/api/v1/organisations';
const ONE = `${PATH}/{organisation_id}`;
const TAG = 'Organisations';

const role = z
  .enum(ORGANISATION_ROLES)
  .meta({ id: 'OrganisationRole', description: 'The role in the organisation, and in each of its workspaces' });
const organisationFields = { id: z.string(), name: displayName, role, created_at: moment };
const organisationSchema = z
  .object(organisationFields)
  .meta({ id: 'Organisation', description: 'An organisation, with the role of the caller' });
export const organisationMember = z
  .object({ user_id: z.string(), ...userFields, role, joined_at: moment })
  .meta({ id: 'OrganisationMember' });
const detailsSchema = z
  .object({
    ...organisationFields,
    members: z.array(organisationMember).meta({ description: 'By name' }),
    workspaces: z
      .array(z.object({ id: z.string(), slug: z.string(), name: z.string() }))
      .meta({ description: 'By slug' }),
  })
  .meta({ id: 'OrganisationDetails' });

const id = identifier.meta({ description: 'Id of the organisation' });
const one = z.object({ organisation_id: id });
const withWorkspace = z.object({ organisation_id: id, slug });
const withMember = z.object({ organisation_id: id, user_id: identifier.meta({ description: 'Id of the user' }) });

/** Organisations, for their members. Gateways apply changes within 5 seconds. */
export function createOrganisationRoutes(organisations: OrganisationStore): Route[] {
  return [
    ...routesOfAll(organisations),
    ...routesOfOne(organisations),
    ...routesOfWorkspaces(organisations),
    ...routesOfMembers(organisations),
  ];
}

function routesOfAll(organisations: OrganisationStore): Route[] {
  return [
    defineRoute({
      method: 'get',
      path: PATH,
      operationId: 'listOrganisations',
      tag: TAG,
      summary: 'List the organisations of the caller',
      access: 'session',
      responses: {
        200: { description: 'The organisations, by name', schema: z.object({ items: z.array(organisationSchema) }) },
      },
      handler: async ({ caller }) => {
        const items = (await organisations.listOf(caller.userId)).map(toOrganisationBody);
        return { status: 200, body: { items } };
      },
    }),
    defineRoute({
      method: 'post',
      audit: 'organisation.create',
      path: PATH,
      operationId: 'createOrganisation',
      tag: TAG,
      summary: 'Create an organisation',
      description: `The caller becomes its owner. 409 for somebody who is in ${MAX_ORGANISATIONS}.`,
      access: 'session',
      body: z.strictObject({ name: displayName }),
      responses: { 201: { description: 'The new organisation', schema: organisationSchema } },
      handler: async ({ caller, body, cause }) => {
        const organisation = await organisations.create(body.name, caller.userId, cause);
        return { status: 201, body: toOrganisationBody({ organisation, role: 'owner' }) };
      },
    }),
  ];
}

function routesOfOne(organisations: OrganisationStore): Route[] {
  return [
    defineRoute({
      method: 'get',
      path: ONE,
      operationId: 'getOrganisation',
      tag: TAG,
      summary: 'Read an organisation, its members and its workspaces',
      access: 'session',
      params: one,
      responses: { 200: { description: 'The organisation', schema: detailsSchema } },
      handler: async ({ caller, params: { organisation_id: organisationId } }) => {
        const found = await organisations.find(organisationId, caller.userId);
        const members = found.members.map(toOrganisationMemberBody);
        return { status: 200, body: { ...toOrganisationBody(found), members, workspaces: found.workspaces } };
      },
    }),
    defineRoute({
      method: 'delete',
      audit: 'organisation.delete',
      path: ONE,
      operationId: 'deleteOrganisation',
      tag: TAG,
      summary: 'Delete an organisation',
      description: 'For its owners. 409 while it has workspaces.',
      access: 'session',
      params: one,
      responses: { 204: { description: 'The organisation no longer exists' } },
      handler: async ({ caller, params: { organisation_id: organisationId }, cause }) => {
        await organisations.remove(organisationId, caller.userId, cause);
        return { status: 204 };
      },
    }),
  ];
}

function routesOfWorkspaces(organisations: OrganisationStore): Route[] {
  const path = `${ONE}/workspaces/{slug}`;
  return [
    defineRoute({
      method: 'put',
      audit: 'organisation.workspace.add',
      path,
      operationId: 'addWorkspaceToOrganisation',
      tag: TAG,
      summary: 'Add a workspace to an organisation',
      description: `For owners of the organisation who also own the workspace. All members of the organisation get access to it, with their role. 409 for a workspace of another organisation, and if the organisation has ${MAX_WORKSPACES}.`,
      access: 'session',
      params: withWorkspace,
      responses: { 204: { description: 'The workspace is in the organisation' } },
      handler: async ({ caller, params, cause }) => {
        await organisations.addWorkspace(params.organisation_id, caller.userId, params.slug, cause);
        return { status: 204 };
      },
    }),
    defineRoute({
      method: 'delete',
      audit: 'organisation.workspace.remove',
      path,
      operationId: 'removeWorkspaceFromOrganisation',
      tag: TAG,
      summary: 'Remove a workspace from an organisation',
      description:
        'For owners of the organisation, and for owners of the workspace. Its own members keep their access.',
      access: 'session',
      params: withWorkspace,
      responses: { 204: { description: 'The workspace is not in the organisation' } },
      handler: async ({ caller, params, cause }) => {
        await organisations.removeWorkspace(params.organisation_id, caller.userId, params.slug, cause);
        return { status: 204 };
      },
    }),
  ];
}

function routesOfMembers(organisations: OrganisationStore): Route[] {
  const path = `${ONE}/members/{user_id}`;
  return [
    defineRoute({
      method: 'put',
      audit: 'organisation.member.set',
      path,
      operationId: 'setOrganisationMember',
      tag: TAG,
      summary: 'Add a member to an organisation, or change their role',
      description:
        'For owners of the organisation. The person must be a member of one of its workspaces: invite them there first. They get this role in all of them. 409 for the last owner, who must keep the role.',
      access: 'session',
      params: withMember,
      body: z.strictObject({ role }),
      responses: { 200: { description: 'The member as it is now', schema: organisationMember } },
      handler: async ({ caller, params: { organisation_id, user_id: userId }, body, cause }) => {
        const member = { userId, role: body.role };
        const now = await organisations.setMember(organisation_id, caller.userId, member, cause);
        return { status: 200, body: toOrganisationMemberBody(now) };
      },
    }),
    defineRoute({
      method: 'delete',
      audit: 'organisation.member.remove',
      path,
      operationId: 'removeOrganisationMember',
      tag: TAG,
      summary: 'Remove a member from an organisation',
      description:
        'For owners of the organisation, and for the member. Memberships of workspaces do not change. 409 for the last owner.',
      access: 'session',
      params: withMember,
      responses: { 204: { description: 'No longer a member' } },
      handler: async ({ caller, params, cause }) => {
        await organisations.removeMember(params.organisation_id, caller.userId, params.user_id, cause);
        return { status: 204 };
      },
    }),
  ];
}

function toOrganisationBody({ organisation, role: own }: OrganisationOfUser): z.infer<typeof organisationSchema> {
  const { id: organisationId, name, createdAt } = organisation;
  return { id: organisationId, name, role: own, created_at: createdAt.toISOString() };
}

export function toOrganisationMemberBody(member: OrganisationMember): z.infer<typeof organisationMember> {
  const { userId, role: own, joinedAt } = member;
  return { user_id: userId, ...toUserBody(member), role: own, joined_at: joinedAt.toISOString() };
}
