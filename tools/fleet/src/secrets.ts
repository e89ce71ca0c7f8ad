import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import { randomBase62 } from '@tollkeeper/kernel';
import { readOrCreateSecretFile } from '@tollkeeper/runtime';

const PASSWORD_LENGTH = 24;

/** Secrets that a fleet generates at its first start and stores in its data directory, readable only by the owner. */
export interface FleetSecrets {
  callerTokenSecret: string;
  /** Base64 of 32 bytes; channel secrets cannot be read without it. */
  channelEncryptionKey: string;
  ownerPassword: string;
}

export async function readOrCreateSecrets(dataDirectory: string): Promise<FleetSecrets> {
  const secret = (name: string, create: () => string) => readOrCreateSecretFile(join(dataDirectory, name), create);
  return {
    callerTokenSecret: await secret('caller-token.secret', () => randomBytes(32).toString('base64url')),
    channelEncryptionKey: await secret('channels.key', () => randomBytes(32).toString('base64')),
    ownerPassword: await secret('owner.password', () => randomBase62(PASSWORD_LENGTH)),
  };
}
