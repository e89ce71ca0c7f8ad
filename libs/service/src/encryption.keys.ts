import { z } from 'zod';
import type { EncryptionKey } from './secret.cipher.ts';

const KEY_BYTES = 32;
const KEY = /^([A-Za-z0-9_-]{1,32}):([A-Za-z0-9+/]{43}=)$/;

/** `id:base64,id:base64`; errors never quote the text, which is secret. */
export function encryptionKeysField() {
  return z.string().transform((text, ctx): EncryptionKey[] => {
    const keys: EncryptionKey[] = [];
    for (const [index, part] of text.split(',').entries()) {
      const [, id = '', base64 = ''] = KEY.exec(part.trim()) ?? [];
      const key = Buffer.from(base64, 'base64');
      if (key.length !== KEY_BYTES) {
        ctx.addIssue({ code: 'custom', message: `key ${index + 1} must be <id>:<base64 of ${KEY_BYTES} bytes>` });
      } else if (keys.some((other) => other.id === id)) {
        ctx.addIssue({ code: 'custom', message: `key ${index + 1} has the same id as another key` });
      } else {
        keys.push({ id, key });
      }
    }
    return keys;
  });
}
