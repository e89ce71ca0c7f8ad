const secrets = new Set<string>();

/** Remembers a secret that the suites have used or been given, for the search through the logs at their end. */
export function rememberSecret(secret: string): void {
  secrets.add(secret);
}

/** All of them: passwords, the values of session cookies, and workspace keys both whole and without their ids. */
export function knownSecrets(): string[] {
  return [...secrets];
}
