import type { Cause } from '@tollkeeper/contracts';
import type { RequestCause } from './auth.use-cases.ts';
import type { User } from './user.ts';

/** A link to set a new password works for 30 minutes. */
export const RESET_MS = 30 * 60_000;

/** Lets the holder of its token set the password of a user, once. */
interface PasswordReset {
  userId: string;
  /** The e-mail that the link is mailed to, or null. */
  mailedTo: string | null;
  expiresAt: Date;
}

/** Both methods write to the audit log of each workspace of the user. */
export interface PasswordResetStore {
  /**
   * Stores it under the digest of its token, replacing others of the user. A mailed one replaces only mailed ones,
   * because anybody may request it, and an operator's link helps when the mail server is down.
   */
  add(reset: PasswordReset, tokenSha256: string, cause: Cause): Promise<void>;
  /**
   * Uses up the user's tokens, sets the password, ends all sessions and all links to providers, and makes the e-mail
   * unverified unless the token was mailed to it: all or nothing, once. Null, with nothing changed, if the token is not
   * valid at `now`. The holder of the token counts as the user.
   */
  use(tokenSha256: string, passwordHash: string, now: Date, request: RequestCause): Promise<User | null>;
  /** Whether `use` would succeed. */
  isValid(tokenSha256: string, now: Date): Promise<boolean>;
}
