import { AppError } from '@tollkeeper/kernel';
import { parseCookie } from 'cookie';
import { actsInWorkspace, findArea } from '../domain/area.ts';
import { chooseMembership, requireRole } from '../domain/membership.ts';
import { createWriteProtection, isSafeMethod, requireJsonBody } from '../domain/write-protection.ts';
import type { SessionDirectory } from '../clients/session.directory.ts';
import type { EdgeHandler } from './exchange.ts';

export const SESSION_COOKIE = 'gw_session';

/** Splits `/w/{slug}/api/v1/…` into slug and path (decisions §2); the slug is undefined without the prefix. */
export function splitWorkspacePrefix(url: string): { slug: string | undefined; url: string } {
  if (!url.startsWith('/w/')) return { slug: undefined, url };
  const end = url.indexOf('/', 3);
  return end === -1 ? { slug: url.slice(3), url: '/' } : { slug: url.slice(3, end), url: url.slice(end) };
}

/** Finds the area that a request is for; 404 for any other path, also for a workspace prefix where none belongs. */
export const findAreaOfRequest: EdgeHandler = (req, res, next) => {
  const { slug, url } = splitWorkspacePrefix(req.url);
  const found = findArea(url.split('?', 1)[0] ?? '');
  if (found === null || (slug !== undefined && !actsInWorkspace(found.area))) {
    throw new AppError('not_found', 'There is nothing at this path.');
  }
  const exchange = res.locals;
  exchange.area = found.area;
  if (found.tenantId !== undefined) exchange.tenantId = found.tenantId;
  const header = req.headers['x-workspace'];
  if (slug !== undefined) exchange.slug = slug;
  else if (typeof header === 'string') exchange.slug = header;
  // Services know nothing of the prefix.
  req.url = url;
  next();
};

/** 401 without a valid session, where the area needs one. A workspace key is no session (spec §5). */
export function createAuthentication(sessions: SessionDirectory): EdgeHandler {
  return async (req, res, next) => {
    const exchange = res.locals;
    const cookies = req.headers.cookie;
    const cookie = cookies === undefined ? undefined : parseCookie(cookies)[SESSION_COOKIE];
    if (cookie !== undefined) exchange.cookie = cookie;
    const access = exchange.area?.access;
    if (access !== 'public' && access !== 'key') {
      const session = cookie === undefined ? null : await sessions.resolve(cookie, exchange.requestId);
      if (session === null)
        throw new AppError('unauthenticated', 'You are not signed in. Log in at POST /api/v1/auth/login.');
      exchange.session = session;
    }
    next();
  };
}

/** 403 for writes that another site's page makes a browser send (decisions §1). A key is not sent by a browser on its own. */
export function createCrossSiteRefusal(publicUrl: string): EdgeHandler {
  const refuseCrossSite = createWriteProtection(publicUrl);
  return (req, res, next) => {
    const { area, cookie } = res.locals;
    if (area?.access !== 'key' || cookie !== undefined) refuseCrossSite(req.method, req.headers);
    next();
  };
}

/** 403 outside the caller's workspaces, then 403 for a role that is too low (decisions §2). */
export const authorize: EdgeHandler = (req, res, next) => {
  const exchange = res.locals;
  const { area, session } = exchange;
  if (area !== undefined && session !== undefined && actsInWorkspace(area)) {
    exchange.membership = chooseMembership(session.memberships, { slug: exchange.slug, tenantId: exchange.tenantId });
    requireRole(exchange.membership, isSafeMethod(req.method) ? area.access.read : area.access.write);
  }
  next();
};

/** 413 for a body that says it is too large, 415 for one that a browser form could have sent. Ingest judges its own types. */
export const checkBody: EdgeHandler = (req, res, next) => {
  const { area } = res.locals;
  if (area !== undefined) {
    if (Number(req.headers['content-length'] ?? 0) > area.bodyLimitBytes) throw tooLarge(area.bodyLimitBytes);
    if (area.access !== 'key' && !isSafeMethod(req.method)) requireJsonBody(req.headers);
  }
  next();
};

/** The answer to a body over the limit, whether it said so or turned out so. */
export function tooLarge(limitBytes: number): AppError {
  return new AppError('payload_too_large', `The request body is larger than ${limitBytes / (1024 * 1024)} MiB.`);
}
