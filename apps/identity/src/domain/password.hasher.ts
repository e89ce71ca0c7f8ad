import { argon2, randomBytes, timingSafeEqual } from 'node:crypto';
import { promisify } from 'node:util';
import { AppError } from '@tollkeeper/kernel';

export const MIN_PASSWORD_LENGTH = 12;
/** Far more than people type. It limits the work of a request. */
export const MAX_PASSWORD_LENGTH = 512;

/** The parameters that OWASP recommends for Argon2id: 19 MiB, 2 passes, 1 lane. */
const PARAMETERS = { memory: 19_456, passes: 2, parallelism: 1 };
const SALT_BYTES = 16;
const TAG_BYTES = 32;
/** Bounds the memory of all callers to 38 MiB. */
const MAX_RUNNING = 2;
const MAX_WAITING = 100;
const PHC = /^\$argon2id\$v=19\$m=(\d+),t=(\d+),p=(\d+)\$([A-Za-z0-9+/]+)\$([A-Za-z0-9+/]+)$/;

const derive = promisify(argon2);

export interface PasswordHasher {
  /** Returns a PHC string of Argon2id with its parameters and a new salt. */
  hash(password: string): Promise<string>;
  /**
   * Whether `password` has this hash. Without a hash, returns false after the same work, so that the time does not
   * reveal whether the user exists.
   */
  verify(password: string, hash: string | null): Promise<boolean>;
}

/**
 * Computes two hashes at a time. Up to 100 callers wait; beyond that, both methods reject with `service_unavailable`.
 * So a flood of log-ins cannot exhaust memory or processors.
 */
export function createPasswordHasher(): PasswordHasher {
  let running = 0;
  const waiting: (() => void)[] = [];

  async function bounded<T>(work: () => Promise<T>): Promise<T> {
    if (running < MAX_RUNNING) running += 1;
    else if (waiting.length >= MAX_WAITING) throw overloaded();
    else await new Promise<void>((resolve) => waiting.push(resolve));
    try {
      return await work();
    } finally {
      // The next caller takes over the place, so `running` stays the same.
      const next = waiting.shift();
      if (next === undefined) running -= 1;
      else next();
    }
  }

  async function hash(password: string): Promise<string> {
    const nonce = randomBytes(SALT_BYTES);
    const tag = await bounded(() => deriveTag(password, nonce, PARAMETERS, TAG_BYTES));
    return toPhc(nonce, tag);
  }

  // Takes as long to check as any other hash, and matches no password.
  const hashOfNobody = toPhc(randomBytes(SALT_BYTES), randomBytes(TAG_BYTES));

  return {
    hash,
    async verify(password, known) {
      const { nonce, tag, parameters } = parse(known ?? hashOfNobody);
      const candidate = await bounded(() => deriveTag(password, nonce, parameters, tag.length));
      return timingSafeEqual(candidate, tag) && known !== null;
    },
  };
}

interface Parameters {
  memory: number;
  passes: number;
  parallelism: number;
}

function deriveTag(password: string, nonce: Buffer, parameters: Parameters, tagLength: number): Promise<Buffer> {
  // Keyboards encode the same letter differently. NIST SP 800-63B recommends normalizing.
  return derive('argon2id', { message: password.normalize('NFKC'), nonce, tagLength, ...parameters });
}

function parse(phc: string): { nonce: Buffer; tag: Buffer; parameters: Parameters } {
  const [, memory, passes, parallelism, salt, tag] = PHC.exec(phc) ?? [];
  if (salt === undefined || tag === undefined)
    throw new Error('A stored password hash is not a PHC string of Argon2id');
  const parameters = { memory: Number(memory), passes: Number(passes), parallelism: Number(parallelism) };
  return { nonce: Buffer.from(salt, 'base64'), tag: Buffer.from(tag, 'base64'), parameters };
}

function toPhc(nonce: Buffer, tag: Buffer): string {
  const { memory, passes, parallelism } = PARAMETERS;
  return `$argon2id$v=19$m=${memory},t=${passes},p=${parallelism}$${toPhcBase64(nonce)}$${toPhcBase64(tag)}`;
}

/** PHC strings use base64 without padding. */
function toPhcBase64(bytes: Buffer): string {
  return bytes.toString('base64').replaceAll('=', '');
}

function overloaded(): AppError {
  const message = 'Too many logins are in progress. Try again in a few seconds.';
  return new AppError('service_unavailable', message, { retryAfterSeconds: 5 });
}
