import { createHash } from 'node:crypto';
import { crc32 } from 'node:zlib';
import { randomBase62, toBase62 } from '@tollkeeper/kernel';

/** What a workspace key may do, weakest first. */
export const KEY_ROLES = ['read_only', 'developer', 'admin'] as const;
export type KeyRole = (typeof KEY_ROLES)[number];

const ID_LENGTH = 16;
const SECRET_LENGTH = 36;
const CHECKSUM_LENGTH = 6;
const KEY = /^ws_live_([0-9A-Za-z]{16})\.[0-9A-Za-z]{42}$/;

function sha256(text: string): Buffer {
  return createHash('sha256').update(text).digest();
}

function checksum(text: string): string {
  return toBase62(crc32(text), CHECKSUM_LENGTH);
}

/**
 * A new workspace key. `apiKey` is what the owner is shown once; only `id` and `sha256` (of the
 * whole `apiKey`) are for keeping. The secret carries 214 random bits, so a plain digest of it is enough.
 */
export function mintWorkspaceKey(): { id: string; apiKey: string; sha256: Buffer } {
  const id = randomBase62(ID_LENGTH);
  const body = `ws_live_${id}.${randomBase62(SECRET_LENGTH)}`;
  const apiKey = body + checksum(body);
  return { id, apiKey, sha256: sha256(apiKey) };
}

/**
 * Reads what a client sent as its key. Null when it can't be a key: wrong shape, or a checksum that does not fit,
 * as after a typing error. A result only says that the key is well formed; `VerifyKey` says whether it is good.
 */
export function parseWorkspaceKey(text: string): { keyId: string; sha256: Buffer } | null {
  const keyId = KEY.exec(text)?.[1];
  if (keyId === undefined) return null;
  const body = text.slice(0, -CHECKSUM_LENGTH);
  return checksum(body) === text.slice(-CHECKSUM_LENGTH) ? { keyId, sha256: sha256(text) } : null;
}
