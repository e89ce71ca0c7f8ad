import type { User } from './user.ts';

/** A link to set a new password works for 30 minutes. */
export const RESET_MS = 30 * 60_000;

/** Lets whoever has its token set the password of a user, once. */
export interface PasswordReset {
  userId: string;
  expiresAt: Date;
}

export interface PasswordResetStore {
  /** Stores it under the digest of its token, in place of another one of the user. */
  add(reset: PasswordReset, tokenSha256: string): Promise<void>;
  /**
   * Uses the token up, sets the password and ends all sessions of the user: all or nothing, once. Null, with nothing
   * changed, when the token is not valid at `now`.
   */
  use(tokenSha256: string, passwordHash: string, now: Date): Promise<User | null>;
  /** Whether `use` would find it. */
  isValid(tokenSha256: string, now: Date): Promise<boolean>;
}
