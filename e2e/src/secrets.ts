import { randomBytes } from 'node:crypto';

const secrets = new Set<string>();

/** Remembers a secret used in the suites, for the search through the logs at their end. */
export function rememberSecret(secret: string): void {
  secrets.add(secret);
}

/** A password for a new person. */
export function rememberedPassword(): string {
  const password = randomBytes(16).toString('hex');
  rememberSecret(password);
  return password;
}

/**
 * All remembered secrets: passwords, values of session cookies, and workspace keys both whole and without their ids.
 */
export function knownSecrets(): string[] {
  return [...secrets];
}
