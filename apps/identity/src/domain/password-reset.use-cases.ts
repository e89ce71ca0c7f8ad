import { AppError, type Clock } from '@tollkeeper/kernel';
import type { AttemptLimiter } from './attempt.limiter.ts';
import { mintToken, tokenDigest } from './one-time-token.ts';
import type { PasswordHasher } from './password.hasher.ts';
import { RESET_MS, type PasswordResetStore } from './password-reset.ts';
import type { User, UserStore } from './user.ts';

export interface PasswordResetUseCases {
  /** Throws `not_found` for a token that is not valid, and then `rate_limited` by address. */
  reset(token: string, address: string, newPassword: string): Promise<User>;
}

export interface PasswordResetDeps {
  resets: PasswordResetStore;
  hasher: PasswordHasher;
  limiter: AttemptLimiter;
  clock: Clock;
}

export function createPasswordResetUseCases(deps: PasswordResetDeps): PasswordResetUseCases {
  const { resets, hasher, limiter, clock } = deps;
  return {
    async reset(token, address, newPassword) {
      await limiter.requireAllowed({ address });
      const sha256 = tokenDigest(token);
      // Looked at first, so that only who has a link costs the hash of a password.
      if (!(await resets.isValid(sha256, new Date(clock())))) {
        await limiter.recordFailure({ address });
        return notValid();
      }
      const passwordHash = await hasher.hash(newPassword);
      return (await resets.use(sha256, passwordHash, new Date(clock()))) ?? notValid();
    },
  };
}

/** A new token for the user, in place of the one before. It is known at this moment only. */
export async function issueReset(
  { resets, clock }: Pick<PasswordResetDeps, 'resets' | 'clock'>,
  userId: string,
): Promise<{ token: string; expiresAt: Date }> {
  const { token, sha256 } = mintToken('reset');
  const expiresAt = new Date(clock() + RESET_MS);
  await resets.add({ userId, expiresAt }, sha256);
  return { token, expiresAt };
}

/** The page that sets a new password. Browsers keep what follows the # to themselves. */
export function toResetUrl(publicUrl: string, token: string): string {
  return `${publicUrl}/reset#${token}`;
}

/** The same for a token that was never there, has expired, or was used or replaced. */
function notValid(): never {
  throw new AppError(
    'not_found',
    'This link is not valid: it was used or replaced, or it has expired. Ask for a new one.',
  );
}

/** The user whom an operator means by a login name or an e-mail. Throws `not_found`. */
export async function requireUser(users: UserStore, name: string): Promise<User> {
  const user = await users.findByLogin(name.trim().toLowerCase());
  if (user !== null) return user;
  throw new AppError('not_found', `No user logs in with ${name}, and nobody has verified it as their e-mail.`);
}
