import { createSecretKey } from 'node:crypto';
import type { KeyObject } from 'node:crypto';
import { AppError, provenTenantId, ROLES } from '@tollkeeper/kernel';
import type { Caller, Role } from '@tollkeeper/kernel';
import { jwtVerify, SignJWT } from 'jose';

/** Carries the signed caller from the gateway to a service. The gateway strips copies from outside. */
export const CALLER_HEADER = 'x-tollkeeper-caller';

/** Carries the signed client address to a service when no caller is known yet (login). */
export const CLIENT_HEADER = 'x-tollkeeper-client';

const ALGORITHM = 'HS256';
const CALLER_AUDIENCE = 'tollkeeper';
const CLIENT_AUDIENCE = 'tollkeeper-client';

/** A token is for one service, so that no service can use a token it received to call another one as the gateway. */
const audienceOf = (kind: string, service: string): string => `${kind}:${service}`;
const MAX_TTL_SECONDS = 60;
/** Most seconds that the clocks of two hosts may differ. */
const CLOCK_TOLERANCE_SECONDS = 5;

/**
 * The secret that gateway and services share, at least 32 bytes. Create the key once, because it caches its imports.
 */
export type TokenKey = KeyObject;

/** The key for the text of `CALLER_TOKEN_SECRET`. Throws when it is shorter than HS256 needs. */
export function tokenKey(secret: string): TokenKey {
  const bytes = Buffer.from(secret);
  if (bytes.length < 32) throw new Error('CALLER_TOKEN_SECRET must have at least 32 bytes');
  return createSecretKey(bytes);
}

/**
 * A compact JWS (HS256) that tells `service` (such as `keys`) for whom a request acts. It can be reused for a minute
 * after signing.
 */
export async function signCallerToken(secret: string | TokenKey, service: string, caller: Caller): Promise<string> {
  const workspace = caller.tenantId === null ? {} : { tenant: caller.tenantId, role: caller.role };
  return new SignJWT({ ...workspace, ...(caller.name !== undefined && { name: caller.name }) })
    .setProtectedHeader({ alg: ALGORITHM })
    .setSubject(caller.userId)
    .setAudience(audienceOf(CALLER_AUDIENCE, service))
    .setIssuedAt()
    .setExpirationTime(`${MAX_TTL_SECONDS}s`)
    .sign(toKey(secret));
}

/**
 * The caller of `token`. Throws `unauthenticated` if it is forged, altered, expired or meant for something else, such
 * as another service.
 */
export async function verifyCallerToken(secret: string | TokenKey, service: string, token: string): Promise<Caller> {
  const { sub, tenant, role, name } = await verify(secret, token, audienceOf(CALLER_AUDIENCE, service));
  if (typeof sub !== 'string') throw unauthenticated();
  const user = { userId: sub, name: typeof name === 'string' ? name : undefined };
  if (tenant === undefined && role === undefined) return { ...user, tenantId: null, role: null };
  if (typeof tenant !== 'string' || !ROLES.includes(role as Role)) throw unauthenticated();
  return { ...user, tenantId: provenTenantId(tenant), role: role as Role };
}

/** Signs the network address of a request for `service`, where failures are counted by address. */
export async function signClientAddress(secret: string | TokenKey, service: string, address: string): Promise<string> {
  return new SignJWT()
    .setProtectedHeader({ alg: ALGORITHM })
    .setSubject(address)
    .setAudience(audienceOf(CLIENT_AUDIENCE, service))
    .setIssuedAt()
    .setExpirationTime(`${MAX_TTL_SECONDS}s`)
    .sign(toKey(secret));
}

/** The address signed by {@link signClientAddress}. Throws `unauthenticated` for any other token. */
export async function verifyClientAddress(secret: string | TokenKey, service: string, token: string): Promise<string> {
  const { sub } = await verify(secret, token, audienceOf(CLIENT_AUDIENCE, service));
  if (typeof sub !== 'string') throw unauthenticated();
  return sub;
}

async function verify(secret: string | TokenKey, token: string, audience: string): Promise<Record<string, unknown>> {
  try {
    const { payload } = await jwtVerify(token, toKey(secret), {
      algorithms: [ALGORITHM],
      audience,
      requiredClaims: ['sub', 'iat', 'exp'],
      maxTokenAge: MAX_TTL_SECONDS,
      clockTolerance: CLOCK_TOLERANCE_SECONDS,
    });
    return payload;
  } catch (cause) {
    throw unauthenticated(cause);
  }
}

function toKey(secret: string | TokenKey): TokenKey {
  return typeof secret === 'string' ? tokenKey(secret) : secret;
}

function unauthenticated(cause?: unknown): AppError {
  return new AppError('unauthenticated', 'You are not signed in. Log in and try again.', { cause });
}
