import * as openid from 'openid-client';
import { isPlainLoopback } from '../domain/loopback.ts';
import { type Claims, mergeClaims } from '../domain/oidc/claims.ts';
import { OidcFailure } from '../domain/oidc/failure.ts';
import type { OidcClient } from '../domain/oidc/oidc.client.ts';
import type { OidcProvider } from '../domain/oidc/provider.ts';
import { clockOff, toOidcFailure } from './oidc.failures.ts';
import { createProviderFetch } from './provider.fetch.ts';

/** Timeout of one request to the provider. A log-in makes at most four. */
const TIMEOUT_MS = 7_000;
/** How long the provider's metadata is used. */
const METADATA_MS = 3_600_000;
/** How long an unreachable provider is not asked again. */
const PAUSE_MS = 5_000;
/** The limit of OpenID Connect Core §2. */
const MAX_SUBJECT_LENGTH = 255;
/** Log-ins that exchange their code at the same time. Further ones fail at once and delay nobody. */
const MAX_IN_FLIGHT = 64;

export interface OidcClientOptions {
  /** PEM certificates that are trusted in addition to the system's. */
  ca: string | undefined;
  /** Where the provider redirects the browser to. */
  redirectUri: string;
}

/**
 * A client of a provider. It is first asked at the first log-in, so a provider that is down does not prevent a start.
 */
export function createOidcClient(
  provider: OidcProvider,
  { ca, redirectUri }: OidcClientOptions,
): OidcClient & { close(): Promise<void> } {
  const asked = { issuer: provider.issuer, clockToleranceSeconds: provider.clockToleranceSeconds };
  const calls = createProviderFetch({ ca, timeoutMs: TIMEOUT_MS });
  let known: { configuration: Promise<openid.Configuration>; until: number } | undefined;
  let inFlight = 0;

  function configuration(): Promise<openid.Configuration> {
    if (known !== undefined && performance.now() < known.until) return known.configuration;
    const discovered = discover(provider, calls.fetch);
    const mine = { configuration: discovered, until: performance.now() + METADATA_MS };
    known = mine;
    discovered.catch(() => (mine.until = performance.now() + PAUSE_MS));
    return discovered;
  }

  /** Errors contain nothing of an answer. */
  async function explained<T>(work: () => Promise<T>): Promise<T> {
    try {
      return await work();
    } catch (error) {
      throw toOidcFailure(error, asked);
    }
  }

  return {
    newProof: () => ({
      state: openid.randomState(),
      nonce: openid.randomNonce(),
      codeVerifier: openid.randomPKCECodeVerifier(),
    }),

    authorizationUrl: ({ state, nonce, codeVerifier }) =>
      explained(async () => {
        const url = openid.buildAuthorizationUrl(await configuration(), {
          redirect_uri: redirectUri,
          scope: provider.scopes.join(' '),
          state,
          nonce,
          // Sent even if the provider does not advertise PKCE. Providers that do not know it ignore it.
          code_challenge: await openid.calculatePKCECodeChallenge(codeVerifier),
          code_challenge_method: 'S256',
        });
        return url.href;
      }),

    async claims(parameters, proof) {
      if (inFlight >= MAX_IN_FLIGHT) throw new OidcFailure('busy');
      inFlight += 1;
      try {
        return await explained(async () => {
          const config = await configuration();
          const tokens = await openid.authorizationCodeGrant(config, callbackUrl(redirectUri, parameters), {
            expectedState: proof.state,
            expectedNonce: proof.nonce,
            pkceCodeVerifier: proof.codeVerifier,
            idTokenExpected: true,
          });
          const idToken: Claims = tokens.claims() ?? {};
          requireNotAhead(idToken);
          requireShortSubject(idToken);
          return mergeClaims(idToken, await userInfo(config, tokens.access_token, String(idToken['sub'])));
        });
      } finally {
        inFlight -= 1;
      }
    },

    close: () => calls.close(),
  };

  /** The library checks when a token expires, but not when it was issued, which shows a clock ahead of ours. */
  function requireNotAhead(claims: Claims): void {
    const aheadSeconds = Number(claims['iat']) - Date.now() / 1000;
    if (aheadSeconds > provider.clockToleranceSeconds) throw clockOff(claims, asked);
  }
}

function requireShortSubject({ sub }: Claims): void {
  if (typeof sub === 'string' && sub.length <= MAX_SUBJECT_LENGTH) return;
  const problem = `it must be a text of at most ${MAX_SUBJECT_LENGTH} characters`;
  throw new OidcFailure('token_invalid', { claim: 'sub', problem });
}

async function discover(provider: OidcProvider, fetch: openid.CustomFetch): Promise<openid.Configuration> {
  const { issuer, clientId, clientSecret, clientAuthentication, clockToleranceSeconds } = provider;
  const basic = clientAuthentication === 'client_secret_basic';
  return openid.discovery(
    new URL(issuer),
    clientId,
    { [openid.clockTolerance]: clockToleranceSeconds },
    basic ? openid.ClientSecretBasic(clientSecret) : openid.ClientSecretPost(clientSecret),
    {
      timeout: TIMEOUT_MS / 1000,
      [openid.customFetch]: fetch,
      execute: [openid.enableNonRepudiationChecks, ...(isPlainLoopback(issuer) ? [openid.allowInsecureRequests] : [])],
    },
  );
}

async function userInfo(config: openid.Configuration, accessToken: string, subject: string): Promise<Claims> {
  if (config.serverMetadata().userinfo_endpoint === undefined) return {};
  return openid.fetchUserInfo(config, accessToken, subject);
}

function callbackUrl(redirectUri: string, parameters: object): URL {
  const url = new URL(redirectUri);
  for (const [name, value] of Object.entries(parameters)) {
    if (typeof value === 'string') url.searchParams.set(name, value);
  }
  return url;
}
