import { createHmac, generateKeyPairSync, randomBytes } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { text } from 'node:stream/consumers';
import Provider, { type Configuration } from 'oidc-provider';
import { logInPage } from './pages.ts';
import type { People } from './people.ts';

export const CLIENT_ID = 'tollkeeper';

/** Faults of the provider, for suites. */
export interface Faults {
  /** Seconds that its clock is ahead of this machine's; negative: behind. */
  clockSeconds?: number;
  /** userinfo describes another person. */
  otherSubject?: boolean;
  /** It publishes other keys than its signing keys. */
  otherKeys?: boolean;
  /** The id_token has no signature by its keys: none at all, or one with the client secret. */
  tokenAlgorithm?: 'none' | 'HS256';
  /** Every answer has this status. */
  status?: number;
}

export interface ProviderOptions {
  issuer: string;
  clientSecret: string;
  people: People;
  /** Send all claims in the id_token, and not in userinfo. */
  claimsInIdToken: boolean;
  /** Called for each request. */
  faults: () => Faults;
}

type Handler = (request: IncomingMessage, response: ServerResponse) => void | Promise<void>;

/**
 * An OpenID Connect provider for one client on this machine. It accepts every callback on a loopback address, asks for
 * no password, and keeps everything in memory.
 */
export function createProvider({ issuer, clientSecret, people, claimsInIdToken, faults }: ProviderOptions): Handler {
  const provider = new Provider(issuer, configurationOf({ clientSecret, people, claimsInIdToken }));
  // Tollkeeper's port is not known yet.
  provider.Client.prototype.redirectUriAllowed = (uri) =>
    /^https?:\/\/(localhost|127\.0\.0\.1|\[::1\])(:\d+)?\/api\/v1\/auth\/oidc\/[a-z0-9-]+\/callback$/.test(uri);
  provider.use(async (context, next) => {
    await next();
    const { tokenAlgorithm } = faults();
    if (context.path !== '/token' || tokenAlgorithm === undefined) return;
    const body = context.body as { id_token: string };
    context.body = { ...body, id_token: signedAnew(body.id_token, tokenAlgorithm, clientSecret) };
  });
  const answer = provider.callback();
  const otherKeys = JSON.stringify({ keys: [{ ...toPublic(newKey()), kid: 'signing' }] });

  return async (request, response) => {
    const { pathname } = new URL(request.url ?? '/', issuer);
    const { status, otherKeys: hidesKeys, otherSubject } = faults();
    const sendJson = (body: string) => response.writeHead(200, { 'content-type': 'application/json' }).end(body);
    if (status !== undefined) {
      response.writeHead(status).end();
      return;
    }
    if (pathname === '/jwks' && hidesKeys === true) {
      sendJson(otherKeys);
      return;
    }
    if (pathname === '/me' && otherSubject === true) {
      sendJson(JSON.stringify({ sub: 'somebody-else' }));
      return;
    }
    const uid = /^\/interaction\/([\w-]+)$/.exec(pathname)?.[1];
    if (uid === undefined) return Promise.resolve(answer(request, response));
    // The name of a person in a cookie replaces a click on their button.
    const chosen =
      request.method === 'POST'
        ? new URLSearchParams(await text(request)).get('person')
        : (/(?:^|; )person=([\w-]*)/.exec(request.headers.cookie ?? '')?.[1] ?? null);
    if (chosen === null) {
      response.writeHead(200, { 'content-type': 'text/html; charset=utf-8' }).end(logInPage(uid, people));
      return;
    }
    const result = people.has(chosen)
      ? { login: { accountId: chosen, remember: false } }
      : { error: 'access_denied', error_description: 'The log-in was cancelled <b>here</b>.' };
    await provider.interactionFinished(request, response, result, { mergeWithLastSubmission: false });
  };
}

function configurationOf({
  clientSecret,
  people,
  claimsInIdToken,
}: Omit<ProviderOptions, 'issuer' | 'faults'>): Configuration {
  return {
    clients: [
      {
        client_id: CLIENT_ID,
        client_secret: clientSecret,
        grant_types: ['authorization_code'],
        response_types: ['code'],
        redirect_uris: ['http://localhost/unused'],
      },
    ],
    // Used only in this process, so new at each start.
    cookies: { keys: [randomBytes(32).toString('hex')] },
    jwks: { keys: [{ ...newKey(), kid: 'signing' }] },
    pkce: { required: () => false },
    claims: {
      openid: ['sub'],
      email: ['email', 'email_verified'],
      profile: ['name', 'preferred_username'],
      groups: ['groups', 'realm_access', '_claim_names'],
    },
    scopes: ['openid', 'email', 'profile', 'groups'],
    conformIdTokenClaims: !claimsInIdToken,
    // Cookies expire by the browser's clock, and the provider's may be hours behind it.
    ttl: { AuthorizationCode: 60, IdToken: 300, AccessToken: 300, Interaction: 86_400, Session: 86_400, Grant: 86_400 },
    features: { devInteractions: { enabled: false }, userinfo: { enabled: true } },
    interactions: { url: (_context, { uid }) => `/interaction/${uid}` },
    findAccount: (_context, name) => {
      const claims = people.get(name);
      if (claims === undefined) return undefined;
      return {
        accountId: name,
        claims: () => ({ ...claims, sub: name }),
      };
    },
    // Grants consent without asking.
    async loadExistingGrant({ oidc }) {
      const grant = new oidc.provider.Grant({
        clientId: oidc.client?.clientId ?? '',
        accountId: oidc.session?.accountId ?? '',
      });
      grant.addOIDCScope('openid email profile groups');
      await grant.save();
      return grant;
    },
  };
}

function signedAnew(token: string, algorithm: 'none' | 'HS256', secret: string): string {
  const header = Buffer.from(JSON.stringify({ alg: algorithm, typ: 'JWT' })).toString('base64url');
  const signed = `${header}.${token.split('.')[1]}`;
  return `${signed}.${algorithm === 'none' ? '' : createHmac('sha256', secret).update(signed).digest('base64url')}`;
}

function toPublic({ kty, n, e, use, alg }: ReturnType<typeof newKey>) {
  return { kty, n, e, use, alg };
}

function newKey() {
  const { privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
  return { ...privateKey.export({ format: 'jwk' }), use: 'sig', alg: 'RS256', kty: 'RSA' };
}
