import { createSecretKey } from 'node:crypto';
import { jwtVerify, SignJWT } from 'jose';

/** Metadata that carries the token of the calling service, as a bearer token. */
export const SERVICE_TOKEN_METADATA = 'authorization';

const SCHEME = 'Bearer ';
const ALGORITHM = 'HS256';
const TTL_SECONDS = 60;
/** A token is renewed well before it expires, so that none expires during a call. */
const RENEW_AFTER_MS = 30_000;
/** Most seconds that the clocks of two hosts may differ. */
const CLOCK_TOLERANCE_SECONDS = 5;

/**
 * Makes the tokens with which a client proves to `service` (`tollkeeper.keys.v1.KeysService`) that it is one of ours: a
 * JWS (HS256) for a minute, signed with the shared secret. It is valid for that service only, so no service can reuse a
 * token it received. Caller tokens of the HTTP servers have other audiences, so neither kind is accepted as the other.
 */
export function createServiceTokens(secret: string, service: string): () => Promise<string> {
  const key = toKey(secret);
  let token: Promise<string> | undefined;
  let renewAt = 0;

  return () => {
    const now = performance.now();
    if (token === undefined || now >= renewAt) {
      renewAt = now + RENEW_AFTER_MS;
      token = new SignJWT()
        .setProtectedHeader({ alg: ALGORITHM })
        .setAudience(audienceOf(service))
        .setIssuedAt()
        .setExpirationTime(`${TTL_SECONDS}s`)
        .sign(key)
        .then((jws) => SCHEME + jws);
    }
    return token;
  };
}

/**
 * Makes the check of tokens from {@link createServiceTokens}: resolves to whether one of our services made the token
 * for `service` just now.
 */
export function createServiceTokenCheck(secret: string, service: string): (said: unknown) => Promise<boolean> {
  const key = toKey(secret);
  const options = {
    algorithms: [ALGORITHM],
    audience: audienceOf(service),
    requiredClaims: ['iat', 'exp'],
    maxTokenAge: TTL_SECONDS,
    clockTolerance: CLOCK_TOLERANCE_SECONDS,
  };
  return async (said) => {
    if (typeof said !== 'string' || !said.startsWith(SCHEME)) return false;
    return jwtVerify(said.slice(SCHEME.length), key, options).then(
      () => true,
      () => false,
    );
  };
}

function audienceOf(service: string): string {
  return `tollkeeper-grpc:${service}`;
}

function toKey(secret: string): ReturnType<typeof createSecretKey> {
  const bytes = Buffer.from(secret, 'utf8');
  if (bytes.length < 32) throw new Error('CALLER_TOKEN_SECRET must have at least 32 bytes');
  return createSecretKey(bytes);
}
