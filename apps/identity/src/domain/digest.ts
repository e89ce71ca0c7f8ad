import { createHash } from 'node:crypto';

/** SHA-256 in hex: what is stored of a text that lets its holder in, so that a copy of the database does not. */
export function digestOf(text: string): string {
  return createHash('sha256').update(text).digest('hex');
}
