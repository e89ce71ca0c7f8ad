import { hash } from 'node:crypto';
import { crc32 } from 'node:zlib';
import { randomBase62, toBase62 } from '@tollkeeper/kernel';

/** Roles of a workspace key, weakest first. */
export const KEY_ROLES = ['read_only', 'developer', 'admin'] as const;
export type KeyRole = (typeof KEY_ROLES)[number];

const ID_LENGTH = 16;
const SECRET_LENGTH = 36;
const CHECKSUM_LENGTH = 6;
const KEY = /^ws_live_([0-9A-Za-z]{16})\.[0-9A-Za-z]{42}$/;

function sha256(text: string): Buffer {
  return hash('sha256', text, 'buffer');
}

function checksum(text: string): string {
  return toBase62(crc32(text), CHECKSUM_LENGTH);
}

/**
 * A new workspace key. `apiKey` is shown to the owner once. Store only `id` and `sha256`, the digest of the whole
 * `apiKey`: the secret has 214 random bits, so a plain digest is enough.
 */
export function mintWorkspaceKey(): { id: string; apiKey: string; sha256: Buffer } {
  const id = randomBase62(ID_LENGTH);
  const body = `ws_live_${id}.${randomBase62(SECRET_LENGTH)}`;
  const apiKey = body + checksum(body);
  return { id, apiKey, sha256: sha256(apiKey) };
}

/**
 * Parses the key that a client sent. Null if it cannot be a key: wrong format, or a wrong checksum, such as after a
 * typing error. A result only means that the key is well-formed; `VerifyKey` checks whether it is valid.
 */
export function parseWorkspaceKey(text: string): { keyId: string; sha256: Buffer } | null {
  const keyId = KEY.exec(text)?.[1];
  if (keyId === undefined) return null;
  const body = text.slice(0, -CHECKSUM_LENGTH);
  return checksum(body) === text.slice(-CHECKSUM_LENGTH) ? { keyId, sha256: sha256(text) } : null;
}
