import type { IncomingHttpHeaders } from 'node:http';
import { parseCookie, stringifySetCookie } from 'cookie';
import { isPlainLoopback } from '../domain/loopback.ts';
import { LOG_IN_MS } from '../domain/oidc/visit.ts';

const NAME = 'gw_oidc';
const PATH = '/api/v1/auth/oidc';
/** 256 bits in base64url. */
const VALUE = /^[A-Za-z0-9_-]{43}$/;

export interface BrowserCookie {
  set(value: string): string;
  /** Null if the browser has none. */
  of(headers: IncomingHttpHeaders): string | null;
}

/**
 * Binds log-ins in progress to the browser that started them. The cookie must be sent when the provider redirects back
 * to us, which `SameSite=Lax` allows and `Strict` does not.
 */
export function createBrowserCookie(publicUrl: string): BrowserCookie {
  const secure = !isPlainLoopback(publicUrl);
  const attributes = { httpOnly: true, sameSite: 'lax', path: PATH, maxAge: LOG_IN_MS / 1000, secure } as const;
  return {
    set: (value) => stringifySetCookie({ name: NAME, value, ...attributes }),
    of(headers) {
      const value = parseCookie(headers.cookie ?? '')[NAME] ?? '';
      return VALUE.test(value) ? value : null;
    },
  };
}
