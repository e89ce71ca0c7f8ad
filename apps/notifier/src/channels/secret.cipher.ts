import { createCipheriv, createDecipheriv, randomBytes } from 'node:crypto';

/** A text that only the holders of a key can read. */
interface Sealed {
  /** Which key it takes. */
  keyId: string;
  iv: Buffer;
  /** The encrypted text and, behind it, the 16 bytes of the tag. */
  data: Buffer;
}

/** Keeps secrets unreadable at rest. */
export interface SecretCipher {
  /** The keys that it can open with. */
  readonly keyIds: readonly string[];
  /** `context` names what the text belongs to: in another context it can't be opened. */
  seal(context: string, text: string): Sealed;
  /** Throws when the key is not known, the context is another one, or anything was altered. */
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

/** AES-256-GCM with a random IV for each text. The first key seals; all of them open, so that keys can be rotated. */
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
      if (key === undefined) throw new Error(`A secret takes the encryption key "${keyId}", which is not configured`);
      const decipher = createDecipheriv(ALGORITHM, key, iv, { authTagLength: TAG_BYTES }).setAAD(Buffer.from(context));
      decipher.setAuthTag(data.subarray(data.length - TAG_BYTES));
      const text = decipher.update(data.subarray(0, data.length - TAG_BYTES));
      return Buffer.concat([text, decipher.final()]).toString('utf8');
    },
  };
}
