import { createCipheriv, createDecipheriv, randomBytes } from 'node:crypto';

/** A text that can only be decrypted with its key. */
interface Sealed {
  /** Id of the key. */
  keyId: string;
  iv: Buffer;
  /** The encrypted text, followed by the 16 bytes of the tag. */
  data: Buffer;
}

/** Encrypts secrets that are stored. */
export interface SecretCipher {
  /** Ids of the keys that it can decrypt with. */
  readonly keyIds: readonly string[];
  /** `context` identifies what the text belongs to: it can only be decrypted with the same context. */
  seal(context: string, text: string): Sealed;
  /** Throws if the key is unknown, the context differs, or anything was altered. */
  open(context: string, sealed: Sealed): string;
}

export interface EncryptionKey {
  id: string;
  /** 32 bytes. */
  key: Buffer;
}

const ALGORITHM = 'aes-256-gcm';
const IV_BYTES = 12;
const TAG_BYTES = 16;

/** AES-256-GCM with a random IV for each text. The first key encrypts; all keys decrypt, to allow key rotation. */
export function createSecretCipher(keys: readonly EncryptionKey[]): SecretCipher {
  const [current] = keys;
  if (current === undefined) throw new Error('There must be at least one encryption key');
  const byId = new Map(keys.map(({ id, key }) => [id, key]));

  return {
    keyIds: [...byId.keys()],
    seal(context, text) {
      const iv = randomBytes(IV_BYTES);
      const cipher = createCipheriv(ALGORITHM, current.key, iv).setAAD(Buffer.from(context));
      const data = Buffer.concat([cipher.update(text, 'utf8'), cipher.final(), cipher.getAuthTag()]);
      return { keyId: current.id, iv, data };
    },
    open(context, { keyId, iv, data }) {
      const key = byId.get(keyId);
      if (key === undefined) throw new Error(`A secret needs the encryption key "${keyId}", which is not configured`);
      const decipher = createDecipheriv(ALGORITHM, key, iv, { authTagLength: TAG_BYTES }).setAAD(Buffer.from(context));
      decipher.setAuthTag(data.subarray(data.length - TAG_BYTES));
      const text = decipher.update(data.subarray(0, data.length - TAG_BYTES));
      return Buffer.concat([text, decipher.final()]).toString('utf8');
    },
  };
}
