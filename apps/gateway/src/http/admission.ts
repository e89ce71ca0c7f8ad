import type { IncomingHttpHeaders } from 'node:http';
import { isIP } from 'node:net';
import { intakePathOf } from '@tollkeeper/contracts';
import { bodyTooLarge } from '@tollkeeper/http';
import { AppError } from '@tollkeeper/kernel';
import { toClientNetwork } from '@tollkeeper/net';
import { parseCookie } from 'cookie';
import { actsInWorkspace, AREAS } from '../domain/area.ts';
import type { Area, findArea } from '../domain/area.ts';
import { chooseMembership, requireRole } from '../domain/membership.ts';
import type { Membership, WorkspaceNaming } from '../domain/membership.ts';
import type { Session, SessionDirectory } from '../domain/session.ts';
import { isSafeMethod, refuseFormBody } from '../domain/write-protection.ts';
import type { EdgeRequest } from './exchange.ts';

const SESSION_COOKIE = 'gw_session';
const KEY_PATHS = AREAS.filter(({ access }) => access === 'key').map(({ path }) => path);
/** For callers that use a workspace key as a session, or name a workspace in the path although the key names it. */
const KEY_HINT = `Workspace keys work at ${new Intl.ListFormat('en').format(KEY_PATHS)}; sessions work at the paths below /w/{slug}.`;

/** The destination of a request. */
export interface Target {
  area: Area;
  /** The URL for the service, without the workspace prefix. */
  url: string;
  workspace: WorkspaceNaming;
}

/** The parts of a request's URL: `/w/{slug}{path}{query}`. */
export interface RequestUrl {
  /** Undefined without the workspace prefix. */
  slug: string | undefined;
  path: string;
  /** Includes the question mark; empty without a query. */
  query: string;
}

export function readUrl(url: string): RequestUrl {
  const queryAt = url.indexOf('?');
  const pathname = queryAt === -1 ? url : url.slice(0, queryAt);
  const query = queryAt === -1 ? '' : url.slice(queryAt);
  const slugEnd = pathname.startsWith('/w/') ? pathname.indexOf('/', 3) : -1;
  if (slugEnd === -1) return { slug: undefined, path: pathname, query };
  return { slug: pathname.slice(3, slugEnd), path: pathname.slice(slugEnd), query };
}

/**
 * The destination of a request, from the area of its path. Throws `not_found` without an area, and for a workspace
 * prefix before an area that has no workspace.
 */
export function targetOf(
  found: ReturnType<typeof findArea>,
  { slug, path, query }: RequestUrl,
  headers: IncomingHttpHeaders,
): Target {
  if (found === null || (slug !== undefined && !actsInWorkspace(found.area))) {
    throw found?.area.access === 'key' ? notFound(KEY_HINT) : notFound();
  }
  const header = headers['x-workspace'];
  const named = slug ?? (typeof header === 'string' ? header : undefined);
  return { area: found.area, url: path + query, workspace: { slug: named, tenantId: found.tenantId } };
}

/** The error for a path that does not exist. */
export function notFound(hint = 'GET /openapi.json lists all paths.'): AppError {
  return new AppError('not_found', `This path does not exist. ${hint}`);
}

/**
 * The client's address: the socket's, or the one from the trusted proxies. They pass on what clients write, so a value
 * that is not an address is ignored.
 */
export function clientAddress({ ip, socket }: EdgeRequest): string {
  return ip !== undefined && isIP(ip) !== 0 ? ip : (socket.remoteAddress ?? '');
}

/** The key by which requests of an address are counted. Most addresses are IPv4, which needs only a quick check. */
export function networkOf(address: string): string {
  return isIP(address) === 4 ? address : toClientNetwork(address);
}

/** The unverified key of a request to an area for keys. It is used for counting only. */
export function keyOf({ access, headers: taken }: Area, headers: IncomingHttpHeaders): string | undefined {
  if (access !== 'key') return undefined;
  const { authorization, 'x-api-key': apiKey } = headers;
  if (authorization !== undefined) return authorization.slice(authorization.lastIndexOf(' ') + 1);
  return taken.includes('x-api-key') && typeof apiKey === 'string' ? apiKey : undefined;
}

export function sessionCookie({ cookie }: IncomingHttpHeaders): string | undefined {
  return cookie === undefined ? undefined : parseCookie(cookie)[SESSION_COOKIE];
}

/**
 * The session of the cookie; null if the area does not require a session and none is valid. Throws `unauthenticated` if
 * the area requires one and none is valid. A workspace key is not a session. `resolve` is the directory's method.
 */
export async function authenticate(
  { access }: Area,
  cookie: string | undefined,
  resolve: SessionDirectory['resolve'],
  requestId: string,
): Promise<Session | null> {
  if (access === 'public' || access === 'key') return null;
  const session = cookie === undefined ? null : await resolve(cookie, requestId);
  if (session !== null || access === 'visitor') return session;
  throw new AppError('unauthenticated', `You are not signed in. Log in at POST /api/v1/auth/login. ${KEY_HINT}`);
}

/**
 * The caller's membership in the workspace of the request; null for areas without one. Throws `forbidden` outside the
 * caller's workspaces, and for a role that is too low.
 */
export function authorize({ area, workspace }: Target, session: Session | null, method: string): Membership | null {
  if (session === null || !actsInWorkspace(area)) return null;
  const membership = chooseMembership(session.memberships, workspace);
  const { read, write } = area.access;
  if (isSafeMethod(method)) requireRole(membership, 'read', read);
  else requireRole(membership, 'change', write);
  return membership;
}

/**
 * Throws `payload_too_large` if the declared length is too large, and `unsupported_media_type` for a body that is not
 * JSON. Services that take keys check content types themselves.
 */
export function checkBody({ area, url }: Target, method: string, headers: IncomingHttpHeaders): void {
  const { access, bodyLimitBytes, takesForms } = area;
  if (Number(headers['content-length'] ?? 0) > bodyLimitBytes) throw tooLarge(bodyLimitBytes, url);
  if (access !== 'key' && !takesForms && !isSafeMethod(method)) refuseFormBody(headers);
}

/** The error for a body over the limit, by its declared or its actual length. */
export function tooLarge(limitBytes: number, url: string): AppError {
  return bodyTooLarge(limitBytes, intakePathOf(readUrl(url).path)?.tooLargeHint);
}
