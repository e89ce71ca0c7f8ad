import { createHash, randomBytes } from 'node:crypto';

/** The purpose of a token. It is part of the token's text, so that logs can redact tokens anywhere. */
type TokenPurpose = 'invite' | 'reset' | 'device' | 'mailconfirm';

/** A new token with 256 random bits, and the digest under which it is stored. */
export function mintToken(purpose: TokenPurpose): { token: string; sha256: string } {
  const token = `tk_${purpose}_${randomBytes(32).toString('base64url')}`;
  return { token, sha256: digestOf(token) };
}

/** SHA-256 in hex. Secrets that give access are stored as digests, so a copy of the database gives none. */
export function digestOf(text: string): string {
  return createHash('sha256').update(text).digest('hex');
}
