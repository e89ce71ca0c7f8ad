import * as openid from 'openid-client';
import { isPlainLoopback } from '../domain/loopback.ts';
import { type Claims, mergeClaims } from '../domain/oidc/claims.ts';
import { OidcFailure } from '../domain/oidc/failure.ts';
import type { OidcClient } from '../domain/oidc/oidc.client.ts';
import type { OidcProvider } from '../domain/oidc/provider.ts';
import { clockOff, toOidcFailure } from './oidc.failures.ts';
import { createProviderFetch } from './provider.fetch.ts';

/** Of one request to the provider; a log-in makes four of them at most. */
const TIMEOUT_MS = 7_000;
/** How long the provider's own description of itself is used. */
const METADATA_MS = 3_600_000;
/** For so long a provider that could not be asked is not asked again. */
const PAUSE_MS = 5_000;
/** As OpenID Connect Core §2 has it. */
const MAX_SUBJECT_LENGTH = 255;
/** Log-ins that exchange their code at the same time. More fail at once, and hold up nobody. */
const MAX_IN_FLIGHT = 64;

export interface OidcClientOptions {
  /** Certificates in PEM that are trusted beside those of the system. */
  ca: string | undefined;
  /** Where the provider sends the browser back to. */
  redirectUri: string;
}

/** A provider, asked at the first log-in and not before: one that is down keeps nothing from starting. */
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

  /** Nothing of an answer leaves here in an error. */
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
          // Always, also where a provider does not say that it takes it: those that do not know it ignore it.
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

  /** The library checks when a token ends and not when it began, which a provider's clock that is ahead shows. */
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
