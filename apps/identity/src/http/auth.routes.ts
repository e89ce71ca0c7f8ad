import { defineRoute, type Route } from '@tollkeeper/http';
import { z } from 'zod';
import type { AuthUseCases } from '../domain/auth.use-cases.ts';
import { accountSchema, login, newPassword, password, toAccountBody } from './schemas.ts';
import { type SessionCookies, sessionOf } from './session.cookies.ts';

const TAG = 'Sessions';

/** Login, logout and the caller's own account. */
export function createAuthRoutes(auth: AuthUseCases, cookies: SessionCookies): Route[] {
  return [
    defineRoute({
      method: 'post',
      path: '/api/v1/auth/login',
      operationId: 'login',
      tag: TAG,
      summary: 'Log in',
      description:
        'Sets the cookie `gw_session`, always a new one. After ten failures for a user or from an address within 15 minutes the answer is 429 until the 15 minutes are over.',
      access: 'public',
      body: z.strictObject({ email: login, password }),
      responses: { 200: { description: 'Logged in', schema: accountSchema } },
      handler: async ({ body, clientAddress }) => {
        const { cookie, ...account } = await auth.login({ login: body.email, address: clientAddress }, body.password);
        return { status: 200, headers: { 'set-cookie': cookies.set(cookie) }, body: toAccountBody(account) };
      },
    }),
    defineRoute({
      method: 'post',
      path: '/api/v1/auth/logout',
      operationId: 'logout',
      tag: TAG,
      summary: 'Log out',
      description: 'Revokes the session of the request. It ends everywhere within 5 seconds.',
      access: 'session',
      responses: { 204: { description: 'Logged out' } },
      handler: async ({ headers }) => {
        const session = sessionOf(headers);
        if (session !== null) await auth.logout(session);
        return { status: 204, headers: { 'set-cookie': cookies.clear() } };
      },
    }),
    defineRoute({
      method: 'get',
      path: '/api/v1/auth/me',
      operationId: 'getAccount',
      tag: TAG,
      summary: 'Who is logged in',
      access: 'session',
      responses: { 200: { description: 'The account of the caller', schema: accountSchema } },
      handler: async ({ caller }) => ({ status: 200, body: toAccountBody(await auth.account(caller.userId)) }),
    }),
    defineRoute({
      method: 'post',
      path: '/api/v1/auth/password',
      operationId: 'changePassword',
      tag: TAG,
      summary: 'Change the password',
      description: 'Revokes the other sessions of the user. A wrong current password counts as a failed login.',
      access: 'session',
      body: z.strictObject({ current_password: password, new_password: newPassword }),
      responses: { 204: { description: 'The password is changed' } },
      handler: async ({ caller, body, headers, clientAddress }) => {
        await auth.changePassword(caller.userId, {
          currentPassword: body.current_password,
          newPassword: body.new_password,
          sessionSha256: sessionOf(headers),
          address: clientAddress,
        });
        return { status: 204 };
      },
    }),
  ];
}
