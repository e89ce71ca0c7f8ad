import { type Cause, displayName, identifier, moment, workspaceRole } from '@tollkeeper/contracts';
import { defineRoute, type Route } from '@tollkeeper/http';
import { AppError } from '@tollkeeper/kernel';
import { z } from 'zod';
import { type Invitation, toInvitationUrl } from '../domain/invitation.ts';
import type { InvitationUseCases, NewInvitation } from '../domain/invitation.use-cases.ts';
import { accountSchema, email, loginName, newPassword, toAccountBody } from './schemas.ts';
import { originOf, type SessionCookies } from './session.cookies.ts';

const PATH = '/api/v1/invitations';
const TAG = 'Invitations';

const invitationFields = {
  id: z.string(),
  email: z.string(),
  role: workspaceRole,
  created_at: moment,
  expires_at: moment,
};
const invitationSchema = z.object(invitationFields).meta({ id: 'Invitation' });
export const newInvitation = z
  .object({
    ...invitationFields,
    url: z.string().meta({
      description: 'The link to share with the person. Anyone who has it can join, once. Only this response has it.',
    }),
    mailed: z.boolean().meta({
      description:
        'Whether another link is sent to the e-mail, at most 5 within an hour. It also verifies the e-mail of the person who joins with it.',
    }),
  })
  .meta({ id: 'NewInvitation' });
const offerSchema = z
  .object({
    workspace: z.object({ slug: z.string(), name: z.string() }),
    email: z.string(),
    role: workspaceRole,
    invited_by: z.string().meta({ description: 'Name of the owner who created the invitation' }),
    expires_at: moment,
  })
  .meta({ id: 'InvitationOffer', description: 'The workspace and role of the invitation' });

const token = z.string().max(128).meta({ description: 'Token of the invitation: the part after # in its link' });
// OpenAPI allows one name for the parameter of a path. For GET it is the token, for DELETE the id.
const tokenOrId = identifier.meta({ description: 'GET: token of the invitation. DELETE: its id' });

/** Invitations to a workspace: for its owners, and for holders of a token. */
export function createInvitationRoutes(
  invitations: InvitationUseCases,
  cookies: SessionCookies,
  publicUrl: string,
): Route[] {
  return [...routesOfOwners(invitations, publicUrl), ...routesOfInvitees(invitations, cookies)];
}

function routesOfOwners(invitations: InvitationUseCases, publicUrl: string): Route[] {
  return [
    defineRoute({
      method: 'get',
      path: PATH,
      operationId: 'listInvitations',
      tag: TAG,
      summary: 'List the invitations that can still be accepted',
      access: 'owner',
      responses: { 200: { description: 'Newest first', schema: z.object({ items: z.array(invitationSchema) }) } },
      handler: async ({ caller }) => {
        const items = (await invitations.list(caller.tenantId)).map(toInvitationBody);
        return { status: 200, body: { items } };
      },
    }),
    defineRoute({
      method: 'post',
      audit: 'invitation.create',
      path: PATH,
      operationId: 'createInvitation',
      tag: TAG,
      summary: 'Invite someone to the workspace',
      description:
        'Returns a link to share with the person, valid once within 7 days, and sends another one by e-mail if there is a mail server. A new invitation for the same e-mail replaces the old one. An invitation expires when its creator is no longer an owner. 409 if a member has the e-mail, or if the workspace is full.',
      access: 'owner',
      body: z.strictObject({ email, role: workspaceRole }),
      responses: { 201: { description: 'The new invitation', schema: newInvitation } },
      handler: async ({ caller, body, cause }) => {
        const made = await invitations.invite(caller.tenantId, caller.userId, body, cause);
        return { status: 201, body: toNewInvitationBody(made, publicUrl) };
      },
    }),
    defineRoute({
      method: 'delete',
      audit: 'invitation.delete',
      path: `${PATH}/{invitation}`,
      operationId: 'revokeInvitation',
      tag: TAG,
      summary: 'Revoke an invitation',
      access: 'owner',
      params: z.object({ invitation: tokenOrId }),
      responses: { 204: { description: 'The invitation is revoked' } },
      handler: async ({ caller, params, cause }) => {
        await invitations.revoke(caller.tenantId, caller.userId, params.invitation, cause);
        return { status: 204 };
      },
    }),
  ];
}

function routesOfInvitees(invitations: InvitationUseCases, cookies: SessionCookies): Route[] {
  return [
    defineRoute({
      method: 'get',
      path: `${PATH}/{invitation}`,
      operationId: 'getInvitation',
      tag: TAG,
      summary: 'Read an invitation',
      description:
        'For anyone with the token. An invalid token is 404; after ten of those from an address within 15 minutes, the response is 429 until the 15 minutes have passed.',
      access: 'public',
      params: z.object({ invitation: tokenOrId }),
      responses: { 200: { description: 'The invitation', schema: offerSchema } },
      handler: async ({ params, clientAddress }) => {
        const { invitation, workspace, inviterName } = await invitations.find(params.invitation, clientAddress);
        const { email: address, role, expires_at } = toInvitationBody(invitation);
        const { slug, name } = workspace;
        const offer = { workspace: { slug, name }, email: address, role, invited_by: inviterName, expires_at };
        return { status: 200, body: offer };
      },
    }),
    defineRoute({
      method: 'post',
      audit: 'invitation.accept',
      path: `${PATH}/{invitation}:accept`,
      operationId: 'acceptInvitation',
      tag: TAG,
      summary: 'Accept an invitation',
      description:
        'With a session, its user joins: send {}. Without one, `name` and `password` create an account with the e-mail of the invitation and open a session; the response has its `login_name`. Only the link sent to the e-mail verifies it. 409 for a member of the workspace, a taken `login_name`, or a full workspace.',
      access: 'visitor',
      params: z.object({ invitation: token }),
      body: z.strictObject({
        name: displayName.optional(),
        password: newPassword.optional(),
        login_name: loginName.optional(),
      }),
      responses: { 200: { description: 'The account that has joined', schema: accountSchema } },
      handler: async ({ params, caller, body, clientAddress, headers, cause }) => {
        if (caller !== null) {
          refuseSignUp(body);
          const { userId, name = userId } = caller;
          const byUser: Cause = { ...cause, actor: { type: 'user', id: userId, name } };
          const account = await invitations.join(params.invitation, clientAddress, userId, byUser);
          return { status: 200, body: toAccountBody(account) };
        }
        const { cookie, ...account } = await invitations.signUp(
          params.invitation,
          originOf(clientAddress, headers),
          toSignUp(body),
          cause,
        );
        return { status: 200, headers: { 'set-cookie': cookies.set(cookie) }, body: toAccountBody(account) };
      },
    }),
  ];
}

interface AcceptBody {
  name?: string | undefined;
  password?: string | undefined;
  login_name?: string | undefined;
}

/** A user who is logged in would not get the account that they ask for. */
function refuseSignUp(body: AcceptBody): void {
  const details = Object.keys(body).map((path) => ({ path, message: 'is for a new account; log out to create one' }));
  if (details.length === 0) return;
  throw new AppError('invalid_request', 'You are logged in and join with your account. Send {}.', { details });
}

function toSignUp({ name, password, login_name: wished }: AcceptBody) {
  if (name !== undefined && password !== undefined) return { name, password, loginName: wished ?? null };
  const details = Object.entries({ name, password }).flatMap(([path, value]) =>
    value === undefined ? [{ path, message: 'is required for a new account; or log in and join with yours' }] : [],
  );
  throw new AppError('invalid_request', 'Log in, or send the name and password of a new account.', { details });
}

export function toNewInvitationBody(
  { invitation, token: secret, mailed }: NewInvitation,
  publicUrl: string,
): z.infer<typeof newInvitation> {
  return { ...toInvitationBody(invitation), url: toInvitationUrl(publicUrl, secret), mailed };
}

function toInvitationBody(invitation: Invitation): z.infer<typeof invitationSchema> {
  const { id, email: address, role, createdAt, expiresAt } = invitation;
  return {
    ...{ id, email: address, role },
    created_at: createdAt.toISOString(),
    expires_at: expiresAt.toISOString(),
  };
}
