import { randomBytes } from 'node:crypto';
import { digestOf } from './digest.ts';

/** The purpose of a token. It is part of the token's text, so that logs can redact tokens anywhere. */
export type TokenPurpose = 'invite' | 'reset' | 'device';

/** A new token with 256 random bits, and the digest under which it is stored. */
export function mintToken(purpose: TokenPurpose): { token: string; sha256: string } {
  const token = `tk_${purpose}_${randomBytes(32).toString('base64url')}`;
  return { token, sha256: digestOf(token) };
}
