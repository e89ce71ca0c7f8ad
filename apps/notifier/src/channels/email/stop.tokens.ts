import { createHmac, hkdfSync, timingSafeEqual } from 'node:crypto';
import type { EncryptionKey } from '@tollkeeper/service';

const PREFIX = 'tk_mailstop_';
const TOKEN = /^tk_mailstop_([A-Za-z0-9]{20})([A-Za-z0-9_-]{43})$/;

/**
 * The token in every alert mail with which its reader stops them. It is proved by a key, and not stored, since a reader
 * may use any mail at any time.
 */
export interface StopTokens {
  of(readerId: string): string;
  /** The reader whose token it is; null if it is none. */
  readerOf(token: string): string | null;
}

/** The first of the keys makes tokens. All of them prove tokens, so a token works until its key is removed. */
export function createStopTokens(encryptionKeys: readonly EncryptionKey[]): StopTokens {
  const keys = encryptionKeys.map(({ key }) => Buffer.from(hkdfSync('sha256', key, '', 'tollkeeper stop mail', 32)));
  const proofs = (readerId: string): Buffer[] => keys.map((key) => createHmac('sha256', key).update(readerId).digest());

  return {
    of: (readerId) => `${PREFIX}${readerId}${proofs(readerId)[0]!.toString('base64url')}`,
    readerOf(token) {
      const [, readerId = '', text = ''] = TOKEN.exec(token) ?? [];
      const proof = Buffer.from(text, 'base64url');
      return proofs(readerId).some((each) => each.length === proof.length && timingSafeEqual(each, proof))
        ? readerId
        : null;
    },
  };
}
