import type { IncomingHttpHeaders } from 'node:http';
import { digestOf } from '@tollkeeper/kernel';
import { parseCookie, stringifySetCookie } from 'cookie';
import { isPlainLoopback } from '../domain/loopback.ts';
import type { SessionOrigin } from '../domain/session.ts';

const SESSION_COOKIE = 'gw_session';

export interface SessionCookies {
  /** `Set-Cookie` with a new session. The browser forgets it when it closes. */
  set(cookie: string): string;
  /** `Set-Cookie` that removes the session from the browser. */
  clear(): string;
}

/** Session cookies are `Secure`, unless Tollkeeper's URL is plain http on loopback. */
export function createSessionCookies(publicUrl: string): SessionCookies {
  const attributes = { httpOnly: true, sameSite: 'lax', path: '/', secure: !isPlainLoopback(publicUrl) } as const;
  return {
    set: (cookie) => stringifySetCookie({ name: SESSION_COOKIE, value: cookie, ...attributes }),
    clear: () => stringifySetCookie({ name: SESSION_COOKIE, value: '', maxAge: 0, ...attributes }),
  };
}

/** The digest of a request's session; null if the request has none. */
export function sessionOf(headers: IncomingHttpHeaders): string | null {
  const cookie = parseCookie(headers.cookie ?? '')[SESSION_COOKIE];
  return cookie === undefined || cookie === '' ? null : digestOf(cookie);
}

const MAX_USER_AGENT_LENGTH = 256;

/** How a user recognizes a new session: its address and the browser's user agent. */
export function originOf(address: string, headers: IncomingHttpHeaders): SessionOrigin {
  return { address, userAgent: (headers['user-agent'] ?? '').slice(0, MAX_USER_AGENT_LENGTH) };
}
