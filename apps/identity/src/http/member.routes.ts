import { displayName, identifier, moment, workspaceRole } from '@tollkeeper/contracts';
import { defineRoute, type Route } from '@tollkeeper/http';
import { z } from 'zod';
import { type Member, MEMBERSHIP_SOURCES } from '../domain/member.ts';
import type { MemberUseCases } from '../domain/member.use-cases.ts';
import { email, toUserBody, userFields } from './schemas.ts';

const PATH = '/api/v1/members';
const TAG = 'Members';

const memberFields = {
  user_id: z.string(),
  ...userFields,
  role: workspaceRole,
  source: z.enum(MEMBERSHIP_SOURCES).meta({ description: 'What made the user a member' }),
  joined_at: moment,
};
const memberSchema = z.object(memberFields).meta({ id: 'Member' });
const addedMember = z
  .object({
    ...memberFields,
    initial_password: z.string().optional().meta({
      description: 'The password to hand over. Only in this answer, and only if the e-mail had no user before.',
    }),
  })
  .meta({ id: 'AddedMember' });
const params = z.object({ user_id: identifier.meta({ description: 'Id of the user' }) });

/** Members of a workspace, for its owners. Changes count at the gateways within 5 seconds. */
export function createMemberRoutes(members: MemberUseCases): Route[] {
  return [
    defineRoute({
      method: 'get',
      path: PATH,
      operationId: 'listMembers',
      tag: TAG,
      summary: 'List the members of the workspace',
      access: 'owner',
      responses: { 200: { description: 'The members, by e-mail', schema: z.object({ items: z.array(memberSchema) }) } },
      handler: async ({ caller }) => {
        const items = (await members.list(caller.tenantId)).map(toMemberBody);
        return { status: 200, body: { items } };
      },
    }),
    defineRoute({
      method: 'post',
      path: PATH,
      operationId: 'addMember',
      tag: TAG,
      summary: 'Add a member by e-mail',
      description:
        'An e-mail without a user gets a new user, and the answer has the `initial_password`. 409 if the user is a member already.',
      access: 'owner',
      body: z.strictObject({ email, role: workspaceRole, name: displayName.optional() }),
      responses: { 201: { description: 'The new member', schema: addedMember } },
      handler: async ({ caller, body }) => {
        const { member, initialPassword } = await members.add(caller.tenantId, caller.userId, body);
        const secret = initialPassword === null ? {} : { initial_password: initialPassword };
        return { status: 201, body: { ...toMemberBody(member), ...secret } };
      },
    }),
    defineRoute({
      method: 'patch',
      path: `${PATH}/{user_id}`,
      operationId: 'setMemberRole',
      tag: TAG,
      summary: 'Change the role of a member',
      description: '409 for the last owner, who has to keep the role.',
      access: 'owner',
      params,
      body: z.strictObject({ role: workspaceRole }),
      responses: { 200: { description: 'The member as it is now', schema: memberSchema } },
      handler: async ({ caller, params: { user_id: userId }, body }) => {
        const member = await members.setRole(caller.tenantId, caller.userId, userId, body.role);
        return { status: 200, body: toMemberBody(member) };
      },
    }),
    defineRoute({
      method: 'delete',
      path: `${PATH}/{user_id}`,
      operationId: 'removeMember',
      tag: TAG,
      summary: 'Remove a member from the workspace',
      description: '409 for the last owner. The user and their other workspaces do not change.',
      access: 'owner',
      params,
      responses: { 204: { description: 'No longer a member' } },
      handler: async ({ caller, params: { user_id: userId } }) => {
        await members.remove(caller.tenantId, caller.userId, userId);
        return { status: 204 };
      },
    }),
  ];
}

function toMemberBody(member: Member): z.infer<typeof memberSchema> {
  const { userId, role, source, joinedAt } = member;
  return { user_id: userId, ...toUserBody(member), role, source, joined_at: joinedAt.toISOString() };
}
