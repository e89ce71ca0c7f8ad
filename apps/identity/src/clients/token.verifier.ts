import { type Clock, digestOf } from '@tollkeeper/kernel';
import { decodeJwt, decodeProtectedHeader, errors, type JWTPayload, jwtVerify } from 'jose';
import type { TokenVerifier, VerifiedToken } from '../domain/oidc/machine.ts';
import type { MachineProvider } from '../domain/oidc/machine.provider.ts';
import { OidcFailure } from '../domain/oidc/failure.ts';
import { TokenRefusal } from '../domain/oidc/token.refusal.ts';
import { createKeySource } from './key.source.ts';

/** Signatures that only the issuer can make: no shared secrets, and not `none`. */
const ALGORITHMS = [
  ...['RS256', 'RS384', 'RS512', 'PS256', 'PS384', 'PS512'],
  ...['ES256', 'ES384', 'ES512', 'EdDSA', 'Ed25519'],
];
/** Runners give tokens on request, and Kubernetes renews those of pods within this time. */
const MAX_AGE_SECONDS = 3_600;
/** How far clocks of replicas may differ. A used token is remembered for longer than any of them takes it. */
const REPLICA_SKEW_MS = 5 * 60_000;
/** Without characters that could forge a line of a log or of a page. */
const SUBJECT = /^[^\p{Cc}\p{Cf}\u2028\u2029]{1,255}$/u;

/** Checks tokens of the provider's issuer with its keys, which are first asked for at the first token. */
export function createTokenVerifier(
  provider: MachineProvider,
  { ca, clock }: { ca: string | undefined; clock: Clock },
): TokenVerifier & { close(): Promise<void> } {
  const keys = createKeySource(provider, ca);
  const { issuer, audience, clockToleranceSeconds: clockTolerance } = provider;

  return {
    async verify(token) {
      requireMeantForUs(token, provider);
      const verifyKey = await keys.current();
      const now = clock();
      try {
        const { payload } = await jwtVerify(token, verifyKey, {
          ...{ issuer, audience, algorithms: ALGORITHMS, clockTolerance, currentDate: new Date(now) },
          ...{ maxTokenAge: MAX_AGE_SECONDS, requiredClaims: ['exp', 'sub'] },
        });
        return verified(token, payload, clockTolerance);
      } catch (error) {
        throw toRefusal(error, now);
      }
    },
    close: () => keys.close(),
  };
}

/**
 * Refuses tokens of others before the issuer's keys are asked for, and says what is wrong. Nothing is trusted yet:
 * `jwtVerify` checks all of it again, except that there is no other audience, which could use the token here.
 */
function requireMeantForUs(token: string, { issuer, audience }: MachineProvider): void {
  const { alg, typ, iss, aud } = decode(token);
  if (typeof alg !== 'string' || !ALGORITHMS.includes(alg)) throw new TokenRefusal('algorithm_refused', { got: alg });
  // Such as access tokens and logout tokens.
  if (typ !== undefined && !isTypeOfJwt(typ)) throw new TokenRefusal('token_malformed');
  if (iss !== issuer) throw new TokenRefusal('issuer_mismatch', { got: iss ?? 'none', expected: issuer });
  const isOurs = Array.isArray(aud) ? aud.length === 1 && aud[0] === audience : aud === audience;
  if (!isOurs) throw new TokenRefusal('audience_mismatch', { got: aud ?? 'none', expected: audience });
}

/** Headers are JSON of the sender, so the type may be an object too. */
const isTypeOfJwt = (typ: unknown) => typeof typ === 'string' && /^(application\/)?jwt$/i.test(typ);

function decode(token: string) {
  try {
    const { alg, typ } = decodeProtectedHeader(token);
    const { iss, aud } = decodeJwt(token);
    return { alg: alg ?? 'nothing', typ, iss, aud };
  } catch {
    throw new TokenRefusal('token_malformed');
  }
}

function verified(token: string, claims: JWTPayload, toleranceSeconds: number): VerifiedToken {
  const { sub, exp = 0, iat = 0 } = claims;
  if (typeof sub !== 'string' || !SUBJECT.test(sub)) throw new TokenRefusal('claim_invalid', { claim: 'sub' });
  const tooOldAt = Math.min(exp, iat + MAX_AGE_SECONDS) + toleranceSeconds;
  return {
    claims,
    subject: sub,
    expiresAt: new Date(Math.min(exp, iat + MAX_AGE_SECONDS) * 1000),
    sha256: digestOf(token.slice(0, token.lastIndexOf('.'))),
    forgettableAt: new Date(tooOldAt * 1000 + REPLICA_SKEW_MS),
  };
}

/** The error itself is dropped: it has the claims. */
function toRefusal(error: unknown, now: number): Error {
  if (error instanceof TokenRefusal || error instanceof OidcFailure) return error;
  if (error instanceof errors.JWSSignatureVerificationFailed) return new TokenRefusal('signature_invalid');
  if (error instanceof errors.JWKSNoMatchingKey || error instanceof errors.JWKSMultipleMatchingKeys) {
    return new TokenRefusal('key_unknown');
  }
  if (error instanceof errors.JWTExpired || error instanceof errors.JWTClaimValidationFailed) {
    return ofClaim(error, now);
  }
  if (error instanceof errors.JWSInvalid || error instanceof errors.JWTInvalid)
    return new TokenRefusal('token_malformed');
  if (error instanceof errors.JOSENotSupported) return new TokenRefusal('token_malformed');
  return new OidcFailure('provider_invalid', { problem: 'its keys cannot be used' });
}

function ofClaim({ claim, reason, payload }: errors.JWTExpired | errors.JWTClaimValidationFailed, now: number): Error {
  const at = payload[claim];
  if (reason !== 'check_failed' || typeof at !== 'number') return new TokenRefusal('claim_invalid', { claim });
  const aheadSeconds = Math.ceil(at - now / 1000);
  if (aheadSeconds > 0) return new TokenRefusal('token_not_yet_valid', { claim, seconds: aheadSeconds });
  return new TokenRefusal(claim === 'iat' ? 'token_too_old' : 'token_expired', { seconds: -aheadSeconds });
}
