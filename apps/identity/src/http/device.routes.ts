import { moment } from '@tollkeeper/contracts';
import { defineRoute, type Route } from '@tollkeeper/http';
import { z } from 'zod';
import { DEVICE_LOGIN_MS, POLL_SECONDS, USER_CODE_LENGTH, USER_CODE_LETTERS } from '../domain/device-login.ts';
import type { DeviceLoginUseCases } from '../domain/device-login.use-cases.ts';
import { accountSchema, toAccountBody } from './schemas.ts';
import { originOf, sessionOf } from './session.cookies.ts';

/** Programs start log-ins here. The paths of people differ, because the edge asks only them for a session. */
const OF_PROGRAMS = '/api/v1/auth/device';
const OF_PEOPLE = '/api/v1/auth/device-login';
const TAG = 'Sessions';

const deviceCode = z.string().max(128).meta({ description: 'The `device_code` of the login' });

const userCode = z
  .string()
  .max(64)
  .transform((typed) => typed.toUpperCase().replace(/[^A-Z]/g, ''))
  .refine(
    (code) => code.length === USER_CODE_LENGTH && [...code].every((letter) => USER_CODE_LETTERS.includes(letter)),
    `must be the ${USER_CODE_LENGTH} letters that the program shows, such as BCDF-GHJK`,
  )
  .meta({ description: 'The code that the program shows; case and dash do not matter', example: 'BCDF-GHJK' });

const startedSchema = z
  .object({
    device_code: z.string().meta({ description: 'For the polls of the program. A secret' }),
    user_code: z.string().meta({ description: 'For the person, who compares or types it', example: 'BCDF-GHJK' }),
    verification_uri: z.string().meta({ description: 'The page on which the person types the code' }),
    verification_uri_complete: z.string().meta({ description: 'The same page with the code; it changes nothing' }),
    expires_in: z.int().meta({ description: 'Seconds in which the login must be confirmed and collected' }),
    interval: z.int().meta({ description: 'Seconds between two polls' }),
  })
  .meta({ id: 'StartedDeviceLogin' });

const collectedSchema = z
  .object({
    session: z.string().meta({
      description: 'The session: send it as the cookie `gw_session`, or give it to the client. A secret',
    }),
    user: accountSchema.shape.user,
    workspaces: accountSchema.shape.workspaces,
  })
  .meta({ id: 'DeviceSession' });

const pendingSchema = z
  .object({
    address: z.string().meta({ description: 'Network address of the program; empty if unknown' }),
    user_agent: z.string().meta({ description: 'As the program names itself' }),
    created_at: moment,
    expires_at: moment,
  })
  .meta({ id: 'PendingDeviceLogin' });

/** Log-ins of programs that a person confirms in a browser (RFC 8628, with JSON bodies). */
export function createDeviceRoutes(logins: DeviceLoginUseCases, publicUrl: string): Route[] {
  return [
    startRoute(logins, publicUrl),
    collectRoute(logins),
    readRoute(logins),
    confirmRoute(logins),
    declineRoute(logins),
  ];
}

function startRoute(logins: DeviceLoginUseCases, publicUrl: string): Route {
  return defineRoute({
    method: 'post',
    audit: { unaudited: 'Nobody has decided anything yet' },
    path: OF_PROGRAMS,
    operationId: 'startDeviceLogin',
    tag: TAG,
    summary: 'Start the login of a program',
    description:
      'Device authorization as in RFC 8628, with JSON bodies. The program shows the person the code and the page, and polls until the person has confirmed the login there. 429 while 60 logins of an address are open.',
    access: 'public',
    responses: { 200: { description: 'The codes, and the page that confirms the login', schema: startedSchema } },
    handler: async ({ clientAddress, headers }) => {
      const started = await logins.start(originOf(clientAddress, headers));
      const page = `${publicUrl}/device`;
      return {
        status: 200,
        body: {
          ...{ device_code: started.deviceCode, user_code: started.userCode },
          // After the #, so that neither logs nor other sites get the code.
          ...{ verification_uri: page, verification_uri_complete: `${page}#${started.userCode}` },
          ...{ expires_in: DEVICE_LOGIN_MS / 1_000, interval: POLL_SECONDS },
        },
      };
    },
  });
}

function collectRoute(logins: DeviceLoginUseCases): Route {
  return defineRoute({
    method: 'post',
    audit: 'session.create',
    path: `${OF_PROGRAMS}/token`,
    operationId: 'finishDeviceLogin',
    tag: TAG,
    summary: 'Collect the session of a login that a person has confirmed',
    description:
      'Until then 400 with one of the codes of RFC 8628: `authorization_pending`; `slow_down`, which makes the interval 5 seconds longer; `access_denied` if the person declined it, has logged out or changed their password since; `expired_token` if it has expired or was collected before. `Retry-After` is the interval.',
    access: 'public',
    body: z.strictObject({ device_code: deviceCode }),
    responses: { 200: { description: 'Logged in; the session is in no other answer', schema: collectedSchema } },
    handler: async ({ body, cause }) => {
      const { cookie, ...account } = await logins.collect(body.device_code, cause);
      return { status: 200, body: { session: cookie, ...toAccountBody(account) } };
    },
  });
}

function readRoute(logins: DeviceLoginUseCases): Route {
  return defineRoute({
    method: 'get',
    path: OF_PEOPLE,
    operationId: 'getDeviceLogin',
    tag: TAG,
    summary: 'Read which program asks for a login',
    description: 'Any other code is 404. After ten of those within 15 minutes, the response is 429.',
    access: 'session',
    query: z.object({ user_code: userCode }),
    responses: { 200: { description: 'The login that waits for your decision', schema: pendingSchema } },
    handler: async ({ caller, query }) => {
      const { origin, createdAt, expiresAt } = await logins.find(caller.userId, query.user_code);
      const times = { created_at: createdAt.toISOString(), expires_at: expiresAt.toISOString() };
      return { status: 200, body: { address: origin.address, user_agent: origin.userAgent, ...times } };
    },
  });
}

const decision = z.strictObject({ user_code: userCode });

function confirmRoute(logins: DeviceLoginUseCases): Route {
  return defineRoute({
    method: 'post',
    audit: { unaudited: 'The login that follows is recorded, with the address of this request' },
    path: `${OF_PEOPLE}:confirm`,
    operationId: 'confirmDeviceLogin',
    tag: TAG,
    summary: 'Log a program in as you',
    description: 'The program gets a session of yours, which `GET /api/v1/auth/sessions` lists.',
    access: 'session',
    body: decision,
    responses: { 204: { description: 'Confirmed; the program collects its session' } },
    handler: async ({ caller, body, headers, clientAddress }) => {
      const by = { userId: caller.userId, sessionSha256: sessionOf(headers), address: clientAddress };
      await logins.confirm(by, body.user_code);
      return { status: 204 };
    },
  });
}

function declineRoute(logins: DeviceLoginUseCases): Route {
  return defineRoute({
    method: 'post',
    audit: 'session.refuse',
    path: `${OF_PEOPLE}:decline`,
    operationId: 'declineDeviceLogin',
    tag: TAG,
    summary: 'Refuse the login of a program',
    access: 'session',
    body: decision,
    responses: { 204: { description: 'Declined; the next poll of the program says so' } },
    handler: async ({ caller, body, cause }) => {
      await logins.decline(caller.userId, body.user_code, cause);
      return { status: 204 };
    },
  });
}
