import type { Cause } from '@tollkeeper/contracts';
import type { RequestCause } from './auth.use-cases.ts';
import type { User } from './user.ts';

/** A link to set a new password works for 30 minutes. */
export const RESET_MS = 30 * 60_000;

/** Lets whoever has its token set the password of a user, once. */
interface PasswordReset {
  userId: string;
  /** The e-mail that the link is mailed to, where it is mailed. */
  mailedTo: string | null;
  expiresAt: Date;
}

/** The audit log of each workspace of the user is told of both. */
export interface PasswordResetStore {
  /**
   * Stores it under the digest of its token, in place of others of the user. One that is mailed replaces only those
   * that were mailed: anybody may ask for it, and an operator's link helps where the mail server is down.
   */
  add(reset: PasswordReset, tokenSha256: string, cause: Cause): Promise<void>;
  /**
   * Uses the user's tokens up, sets the password, ends all sessions and all links to providers, and takes their e-mail
   * for one that nobody verified, unless the token was mailed to it: all or nothing, once. Null, with nothing changed,
   * when the token is not valid at `now`. Whoever has the token counts as the user.
   */
  use(tokenSha256: string, passwordHash: string, now: Date, request: RequestCause): Promise<User | null>;
  /** Whether `use` would find it. */
  isValid(tokenSha256: string, now: Date): Promise<boolean>;
}
