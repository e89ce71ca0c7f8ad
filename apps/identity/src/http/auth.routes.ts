import { identifier, moment } from '@tollkeeper/contracts';
import { defineRoute, type Route } from '@tollkeeper/http';
import { z } from 'zod';
import type { PasswordResetUseCases } from '../domain/password-reset.use-cases.ts';
import type { AuthUseCases } from '../domain/auth.use-cases.ts';
import { type Session, sessionIdOf } from '../domain/session.ts';
import { accountSchema, email, login, newPassword, password, toAccountBody, userFields } from './schemas.ts';
import { originOf, type SessionCookies, sessionOf } from './session.cookies.ts';

const TAG = 'Sessions';

const sessionSchema = z
  .object({
    id: z.string(),
    created_at: moment,
    last_seen_at: moment.meta({ description: 'Accurate to a minute' }),
    expires_at: moment.meta({ description: 'When the session ends if it is not used again' }),
    address: z.string().meta({ description: 'Network address that opened the session; empty if unknown' }),
    user_agent: z.string().meta({ description: 'User agent of the browser or program at login' }),
    current: z.boolean().meta({ description: 'The session of this request' }),
  })
  .meta({ id: 'Session' });

/** Login, logout and the caller's own account. */
export function createAuthRoutes(auth: AuthUseCases, resets: PasswordResetUseCases, cookies: SessionCookies): Route[] {
  return [
    loginRoute(auth, cookies),
    logoutRoute(auth, cookies),
    accountRoute(auth),
    changePasswordRoute(auth),
    listSessionsRoute(auth),
    endOtherSessionsRoute(auth),
    endSessionRoute(auth),
    forgotPasswordRoute(resets),
    resetPasswordRoute(resets),
  ];
}

function loginRoute(auth: AuthUseCases, cookies: SessionCookies): Route {
  return defineRoute({
    method: 'post',
    audit: 'session.create',
    path: '/api/v1/auth/login',
    operationId: 'login',
    tag: TAG,
    summary: 'Log in',
    description:
      'Always sets a new `gw_session` cookie. After ten failures for a user or from an address within 15 minutes, the response is 429 until the 15 minutes have passed.',
    access: 'public',
    body: z.strictObject({ email: login, password }),
    responses: { 200: { description: 'Logged in', schema: accountSchema } },
    handler: async ({ body, clientAddress, headers, cause }) => {
      const who = { login: body.email, ...originOf(clientAddress, headers) };
      const { cookie, ...account } = await auth.login(who, body.password, cause);
      return { status: 200, headers: { 'set-cookie': cookies.set(cookie) }, body: toAccountBody(account) };
    },
  });
}

function logoutRoute(auth: AuthUseCases, cookies: SessionCookies): Route {
  return defineRoute({
    method: 'post',
    audit: 'session.delete',
    path: '/api/v1/auth/logout',
    operationId: 'logout',
    tag: TAG,
    summary: 'Log out',
    description: 'Revokes the session of the request. It ends everywhere within 5 seconds.',
    access: 'session',
    responses: { 204: { description: 'Logged out' } },
    handler: async ({ headers, cause }) => {
      const session = sessionOf(headers);
      if (session !== null) await auth.logout(session, cause);
      return { status: 204, headers: { 'set-cookie': cookies.clear() } };
    },
  });
}

function accountRoute(auth: AuthUseCases): Route {
  return defineRoute({
    method: 'get',
    path: '/api/v1/auth/me',
    operationId: 'getAccount',
    tag: TAG,
    summary: 'Read the account of the caller',
    access: 'session',
    responses: { 200: { description: 'The account of the caller', schema: accountSchema } },
    handler: async ({ caller }) => ({ status: 200, body: toAccountBody(await auth.account(caller.userId)) }),
  });
}

function changePasswordRoute(auth: AuthUseCases): Route {
  return defineRoute({
    method: 'post',
    audit: 'user.password.change',
    path: '/api/v1/auth/password',
    operationId: 'changePassword',
    tag: TAG,
    summary: 'Change the password',
    description: 'Revokes the other sessions of the user. A wrong current password counts as a failed login.',
    access: 'session',
    body: z.strictObject({ current_password: password, new_password: newPassword }),
    responses: { 204: { description: 'The password is changed' } },
    handler: async ({ caller, body, headers, clientAddress, cause }) => {
      const change = {
        currentPassword: body.current_password,
        newPassword: body.new_password,
        sessionSha256: sessionOf(headers),
        address: clientAddress,
      };
      await auth.changePassword(caller.userId, change, cause);
      return { status: 204 };
    },
  });
}

function listSessionsRoute(auth: AuthUseCases): Route {
  return defineRoute({
    method: 'get',
    path: '/api/v1/auth/sessions',
    operationId: 'listSessions',
    tag: TAG,
    summary: 'List your sessions',
    access: 'session',
    responses: {
      200: { description: 'Newest first, at most 500', schema: z.object({ items: z.array(sessionSchema) }) },
    },
    handler: async ({ caller, headers }) => {
      const current = sessionOf(headers);
      const items = (await auth.listSessions(caller.userId)).map((each) => toSessionBody(each, current));
      return { status: 200, body: { items } };
    },
  });
}

function endOtherSessionsRoute(auth: AuthUseCases): Route {
  return defineRoute({
    method: 'delete',
    audit: 'session.delete',
    path: '/api/v1/auth/sessions',
    operationId: 'endOtherSessions',
    tag: TAG,
    summary: 'End all your sessions except the one of this request',
    description: 'They end everywhere within 5 seconds.',
    access: 'session',
    responses: { 204: { description: 'The other sessions have ended' } },
    handler: async ({ caller, headers, cause }) => {
      await auth.endOtherSessions(caller.userId, sessionOf(headers), cause);
      return { status: 204 };
    },
  });
}

function endSessionRoute(auth: AuthUseCases): Route {
  return defineRoute({
    method: 'delete',
    audit: 'session.delete',
    path: '/api/v1/auth/sessions/{session_id}',
    operationId: 'endSession',
    tag: TAG,
    summary: 'End one of your sessions',
    description: 'It ends everywhere within 5 seconds.',
    access: 'session',
    params: z.object({ session_id: identifier }),
    responses: { 204: { description: 'The session has ended' } },
    handler: async ({ caller, params, cause }) => {
      await auth.endSession(caller.userId, params.session_id, cause);
      return { status: 204 };
    },
  });
}

function forgotPasswordRoute(resets: PasswordResetUseCases): Route {
  return defineRoute({
    method: 'post',
    audit: 'user.password.link',
    path: '/api/v1/auth/forgot',
    operationId: 'forgotPassword',
    tag: TAG,
    summary: 'Request a password reset link by e-mail',
    description:
      'Sends a link to the user with this verified e-mail. The response is the same for any other e-mail. 409 without a mail server; 429 after 5 requests for an e-mail, or 60 from an address, within an hour.',
    access: 'public',
    body: z.strictObject({ email }),
    responses: { 204: { description: 'If a user has verified the e-mail, a link is being sent' } },
    handler: async ({ body, clientAddress, cause }) => {
      await resets.forgot(body.email, clientAddress, cause);
      return { status: 204 };
    },
  });
}

function resetPasswordRoute(resets: PasswordResetUseCases): Route {
  return defineRoute({
    method: 'post',
    audit: 'user.password.reset',
    path: '/api/v1/auth/reset',
    operationId: 'resetPassword',
    tag: TAG,
    summary: 'Set a new password with a one-time link',
    description:
      'Takes the token of a link that an operator created or that was sent by e-mail. The token works once, for 30 minutes, and ends all sessions of the user and all links to their providers. Any other token is 404; after ten of those from an address within 15 minutes, the response is 429 until the 15 minutes have passed.',
    access: 'public',
    body: z.strictObject({ token: z.string().max(128), new_password: newPassword }),
    responses: {
      200: {
        description: 'The password is set; log in with it',
        schema: z.object({ login_name: userFields.login_name }),
      },
    },
    handler: async ({ body, clientAddress, cause }) => {
      const user = await resets.reset(body.token, clientAddress, body.new_password, cause);
      return { status: 200, body: { login_name: user.loginName } };
    },
  });
}

function toSessionBody(session: Session, currentSha256: string | null): z.infer<typeof sessionSchema> {
  const { createdAt, lastSeenAt, expiresAt, address, userAgent, sha256 } = session;
  return {
    id: sessionIdOf(session),
    created_at: createdAt.toISOString(),
    last_seen_at: lastSeenAt.toISOString(),
    expires_at: expiresAt.toISOString(),
    address,
    user_agent: userAgent,
    current: sha256 === currentSha256,
  };
}
