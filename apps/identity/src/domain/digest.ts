import { createHash } from 'node:crypto';

/** SHA-256 in hex. Secrets that give access are stored as digests, so a copy of the database gives none. */
export function digestOf(text: string): string {
  return createHash('sha256').update(text).digest('hex');
}
