import { randomBytes } from 'node:crypto';

const secrets = new Set<string>();

/** Remembers a secret that the suites have used or been given, for the search through the logs at their end. */
export function rememberSecret(secret: string): void {
  secrets.add(secret);
}

/** A password of a new person. */
export function rememberedPassword(): string {
  const password = randomBytes(16).toString('hex');
  rememberSecret(password);
  return password;
}

/** All of them: passwords, the values of session cookies, and workspace keys both whole and without their ids. */
export function knownSecrets(): string[] {
  return [...secrets];
}
