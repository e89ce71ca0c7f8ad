import { createHash, randomBytes } from 'node:crypto';

/** What a token is for. It is part of the token's text, so that logs can cut tokens out wherever they stand. */
export type TokenPurpose = 'invite' | 'reset';

/** A new token with 256 random bits, and the digest under which it is stored. */
export function mintToken(purpose: TokenPurpose): { token: string; sha256: string } {
  const token = `tk_${purpose}_${randomBytes(32).toString('base64url')}`;
  return { token, sha256: tokenDigest(token) };
}

/** SHA-256 of the token's text, in hex. A copy of the database holds no token. */
export function tokenDigest(token: string): string {
  return createHash('sha256').update(token).digest('hex');
}
