import type { IncomingHttpHeaders } from 'node:http';
import { parseCookie, stringifySetCookie } from 'cookie';
import { digestOf } from '../domain/digest.ts';
import { isPlainLoopback } from '../domain/loopback.ts';
import type { SessionOrigin } from '../domain/session.ts';

const SESSION_COOKIE = 'gw_session';

export interface SessionCookies {
  /** `Set-Cookie` with a new session. The browser forgets it when it is closed. */
  set(cookie: string): string;
  /** `Set-Cookie` that makes the browser forget its session. */
  clear(): string;
}

/** Session cookies are `Secure`, unless browsers reach Tollkeeper by plain http on loopback. */
export function createSessionCookies(publicUrl: string): SessionCookies {
  const attributes = { httpOnly: true, sameSite: 'lax', path: '/', secure: !isPlainLoopback(publicUrl) } as const;
  return {
    set: (cookie) => stringifySetCookie({ name: SESSION_COOKIE, value: cookie, ...attributes }),
    clear: () => stringifySetCookie({ name: SESSION_COOKIE, value: '', maxAge: 0, ...attributes }),
  };
}

/** The digest of a request's session; null when the request has none. */
export function sessionOf(headers: IncomingHttpHeaders): string | null {
  const cookie = parseCookie(headers.cookie ?? '')[SESSION_COOKIE];
  return cookie === undefined || cookie === '' ? null : digestOf(cookie);
}

const MAX_USER_AGENT_LENGTH = 256;

/** What a user recognises a new session by: the address, and what the browser says of itself. */
export function originOf(address: string, headers: IncomingHttpHeaders): SessionOrigin {
  return { address, userAgent: (headers['user-agent'] ?? '').slice(0, MAX_USER_AGENT_LENGTH) };
}
