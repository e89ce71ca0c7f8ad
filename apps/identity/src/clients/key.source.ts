import { createLocalJWKSet, createRemoteJWKSet, customFetch, type JWTVerifyGetKey } from 'jose';
import { z } from 'zod';
import { isPlainLoopback } from '../domain/loopback.ts';
import { OidcFailure } from '../domain/oidc/failure.ts';
import type { MachineProvider } from '../domain/oidc/machine.provider.ts';
import { toOidcFailure } from './oidc.failures.ts';
import { createProviderFetch } from './provider.fetch.ts';

/** Timeout of one request to the issuer. A log-in makes at most two. */
const TIMEOUT_MS = 5_000;
/** How long the issuer's metadata is used. */
const METADATA_MS = 3_600_000;
/** How long an issuer that failed is not asked again, whoever sends tokens. */
const PAUSE_MS = 5_000;
/** Tokens with unknown keys make the keys be read again, this long after the last time. */
const NEW_KEYS_MS = 10_000;

const metadata = z.object({ issuer: z.string(), jwks_uri: z.url() });
const keySet = z.looseObject({ keys: z.array(z.looseObject({})) });

interface KeySource {
  /** Finds the key of a token. Both steps throw an `OidcFailure` if the keys cannot be read. */
  current(): Promise<JWTVerifyGetKey>;
  close(): Promise<void>;
}

/** The keys of an issuer: from the settings, or read from it when they are needed, and again when they change. */
export function createKeySource(provider: MachineProvider, ca: string | undefined): KeySource {
  const { issuer, jwks, jwksUri } = provider;
  const calls = createProviderFetch({ ca, timeoutMs: TIMEOUT_MS });
  const close = () => calls.close();
  let failed: { failure: OidcFailure; until: number } | undefined;

  async function ask<T>(url: string, schema: z.ZodType<T>, signal: AbortSignal): Promise<T> {
    const headers = { accept: 'application/json' };
    const response = await calls.fetch(url, { method: 'GET', headers, body: undefined, redirect: 'manual', signal });
    if (response.status !== 200) throw new OidcFailure('provider_invalid', { problem: `HTTP ${response.status}` });
    const read = schema.safeParse(await response.json().catch(() => undefined));
    if (read.success) return read.data;
    throw new OidcFailure('provider_invalid', { problem: `${new URL(url).pathname} is not what it should be` });
  }

  async function get<T>(url: string, schema: z.ZodType<T>, signal: AbortSignal): Promise<T> {
    if (failed !== undefined && performance.now() < failed.until) throw failed.failure;
    try {
      return await ask(url, schema, signal);
    } catch (error) {
      const failure = signal.aborted
        ? new OidcFailure('provider_unreachable', { host: new URL(url).host, problem: 'timeout' })
        : toOidcFailure(error, { issuer: url, clockToleranceSeconds: 0 });
      failed = { failure, until: performance.now() + PAUSE_MS };
      throw failure;
    }
  }

  const keysAt = (url: string): JWTVerifyGetKey =>
    createRemoteJWKSet(new URL(url), {
      ...{ timeoutDuration: TIMEOUT_MS, cooldownDuration: NEW_KEYS_MS },
      [customFetch]: async (address, { signal }) => Response.json(await get(address, keySet, signal)),
    });

  async function discover(): Promise<JWTVerifyGetKey> {
    const url = `${issuer.replace(/\/$/, '')}/.well-known/openid-configuration`;
    const found = await get(url, metadata, AbortSignal.timeout(TIMEOUT_MS));
    if (found.issuer !== issuer) throw new OidcFailure('issuer_mismatch', { expected: issuer, got: found.issuer });
    if (!found.jwks_uri.startsWith('https:') && !(isPlainLoopback(issuer) && isPlainLoopback(found.jwks_uri))) {
      throw new OidcFailure('provider_invalid', { problem: 'its jwks_uri is not https' });
    }
    return keysAt(found.jwks_uri);
  }

  if (jwks !== undefined) {
    const keys = createLocalJWKSet(jwks);
    return { current: async () => keys, close };
  }
  if (jwksUri !== undefined) {
    const keys = keysAt(jwksUri);
    return { current: async () => keys, close };
  }
  let known: { keys: Promise<JWTVerifyGetKey>; until: number } | undefined;
  return {
    current() {
      if (known !== undefined && performance.now() < known.until) return known.keys;
      const mine = { keys: discover(), until: performance.now() + METADATA_MS };
      known = mine;
      mine.keys.catch(() => (mine.until = performance.now() + PAUSE_MS));
      return mine.keys;
    },
    close,
  };
}
