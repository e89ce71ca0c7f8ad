import { afterAll, beforeAll } from '@jest/globals';
import type { TestMongo } from '@tollkeeper/testing';
import { startSsoProvider, type SsoProvider } from '@tollkeeper/sso-provider';
import { parseSetCookie } from 'cookie';
import type { Response } from 'supertest';
import { Agent, request } from 'undici';
import { type CallOptions, type Method, setCookieOf, useIdentity } from './identity.stack.ts';

export const PUBLIC_URL = 'http://localhost:8080';
const MAX_STEPS = 10;

/** A real provider, shared by the suites of a file. */
export function useProvider(options?: Parameters<typeof startSsoProvider>[0]): () => SsoProvider {
  let provider: SsoProvider;
  beforeAll(async () => {
    provider = await startSsoProvider(options);
  });
  afterAll(() => provider?.stop());
  return () => provider;
}

/** Identity with the providers that `configure` returns once they run. Its clock is that of this machine. */
export function useSingleSignOn(
  mongo: TestMongo,
  configure: () => Record<string, unknown>[],
  own: Record<string, string> = {},
) {
  const settings: Record<string, string> = { PUBLIC_URL, ...own };
  beforeAll(() => {
    settings['OIDC_PROVIDERS'] = JSON.stringify(configure());
  });
  const identity = useIdentity(mongo, settings);
  beforeAll(() => {
    identity.clock.now = Date.now();
  });
  return { ...identity, newBrowser: () => createBrowser(identity.call) };
}

export type SingleSignOn = ReturnType<typeof useSingleSignOn>;

type Call = (method: Method, path: string, options?: CallOptions) => Promise<Response>;

/** The parts of a browser that a log-in needs: it keeps cookies and follows redirects. */
function createBrowser(call: Call) {
  const ours = new Map<string, string>();
  const theirs = new Map<string, string>();
  const headerOf = (jar: Map<string, string>) => [...jar].map(([name, value]) => `${name}=${value}`).join('; ');

  async function ask(method: Method, path: string, body?: unknown): Promise<Response> {
    const response = await call(method, path, { cookies: headerOf(ours), body });
    keep(ours, setCookieOf(response));
    return response;
  }

  const start = (id = 'try', returnTo = '/w/alpha') =>
    ask('get', `/api/v1/auth/oidc/${id}/start?return_to=${encodeURIComponent(returnTo)}`);

  /** Follows the provider from its log-in page back to us; clicks on the button of `person`. */
  async function atProvider(url: string, person: string): Promise<string> {
    const dispatcher = new Agent({ connect: { rejectUnauthorized: false } });
    theirs.set('person', person);
    let at = url;
    for (let step = 0; step < MAX_STEPS && !at.startsWith(PUBLIC_URL); step += 1) {
      const { headers, body, statusCode } = await request(at, { dispatcher, headers: { cookie: headerOf(theirs) } });
      const text = await body.text();
      keep(theirs, [headers['set-cookie'] ?? []].flat());
      if (headers.location === undefined) throw new Error(`${at} answered ${statusCode} ${text}`);
      at = new URL(String(headers.location), at).href;
    }
    await dispatcher.close();
    return at;
  }

  const comeBack = (url: string) => ask('get', url.slice(PUBLIC_URL.length));

  return {
    start,
    atProvider,
    comeBack,
    ask,
    /** The whole log-in; returns the answer of our callback. */
    async logIn(person: string, { id = 'try', returnTo = '/w/alpha' } = {}): Promise<Response> {
      const { headers } = await start(id, returnTo);
      return comeBack(await atProvider(String(headers['location']), person));
    },
    /** The failure shown by the page after a failed log-in; null if nothing is known. */
    async failureOf(response: Response): Promise<{ code: string; facts: Record<string, string> } | null> {
      const url = locationOf(response);
      if (url.pathname !== '/login/failed') throw new Error(`It led to ${url.pathname}`);
      const failure = url.searchParams.get('failure');
      if (failure === null) return null;
      const { body } = await ask('get', `/api/v1/auth/oidc/failures/${failure}`);
      const { code, facts } = body as { code: string; facts: Record<string, string> };
      return { code, facts };
    },
    cookies: ours,
  };
}

export type Browser = ReturnType<typeof createBrowser>;

/** The URL of an answer's redirect. */
export function locationOf(response: Response): URL {
  return new URL(String(response.get('location')), PUBLIC_URL);
}

/** The path and query of an answer's redirect within our site. */
export function pathOf(response: Response): string {
  const { pathname, search } = locationOf(response);
  return `${pathname}${search}`;
}

function keep(jar: Map<string, string>, headers: readonly string[]): void {
  for (const header of headers) {
    const { name, value, maxAge, expires } = parseSetCookie(header);
    if (maxAge === 0 || (expires !== undefined && expires.getTime() < Date.now())) jar.delete(name);
    else jar.set(name, value ?? '');
  }
}
