import type { Cause } from '@tollkeeper/contracts';
import { AppError, type Clock, digestOf, mintToken } from '@tollkeeper/kernel';
import type { AttemptLimiter } from './attempt.limiter.ts';
import type { RequestCause } from './auth.use-cases.ts';
import type { Mailing } from './mail.ts';
import type { PasswordHasher } from './password.hasher.ts';
import { RESET_MS, type PasswordResetStore } from './password-reset.ts';
import type { User, UserStore } from './user.ts';

export interface PasswordResetUseCases {
  /**
   * Mails a link to the user with this verified e-mail, if there is one. The user is looked up on sending, so that the
   * answer and its time are the same for every e-mail. Throws `conflict` without a mail server, `rate_limited` and
   * `service_unavailable`.
   */
  forgot(email: string, address: string, request: RequestCause): Promise<void>;
  /** Throws `not_found` for a token that is not valid, and then `rate_limited` by address. */
  reset(token: string, address: string, newPassword: string, request: RequestCause): Promise<User>;
}

export interface PasswordResetDeps {
  resets: PasswordResetStore;
  hasher: PasswordHasher;
  limiter: AttemptLimiter;
  mailing: Mailing | null;
  clock: Clock;
}

export function createPasswordResetUseCases(deps: PasswordResetDeps): PasswordResetUseCases {
  const { resets, hasher, limiter, mailing, clock } = deps;
  return {
    async forgot(email, address, request) {
      if (mailing === null) throw noMailServer();
      const refusal = await mailing.limiter.count({ kind: 'reset', to: email, by: { address } });
      if (refusal !== null) {
        const { retryAfterSeconds } = refusal;
        throw new AppError('rate_limited', 'Too many links were requested. Wait and try again.', { retryAfterSeconds });
      }
      if (await mailing.queue.add({ kind: 'reset', email, request }, new Date(clock()))) return;
      await mailing.limiter.giveBack({ kind: 'reset', to: email });
      const message = 'The mail server is not accepting mail. Try again in a few minutes.';
      throw new AppError('service_unavailable', message, { retryAfterSeconds: 60 });
    },

    async reset(token, address, newPassword, request) {
      await limiter.requireAllowed({ address });
      const sha256 = digestOf(token);
      // Checked first, so that only holders of a link can cause a password hash.
      if (!(await resets.isValid(sha256, new Date(clock())))) {
        await limiter.recordFailure({ address });
        return notValid();
      }
      const passwordHash = await hasher.hash(newPassword);
      return (await resets.use(sha256, passwordHash, new Date(clock()), request)) ?? notValid();
    },
  };
}

/** A new token for the user, which replaces earlier ones. This is the only time that it is known. */
export async function issueReset(
  { resets, clock }: Pick<PasswordResetDeps, 'resets' | 'clock'>,
  userId: string,
  cause: Cause,
  mailedTo: string | null = null,
): Promise<{ token: string; expiresAt: Date }> {
  const { token, sha256 } = mintToken('reset');
  const expiresAt = new Date(clock() + RESET_MS);
  await resets.add({ userId, mailedTo, expiresAt }, sha256, cause);
  return { token, expiresAt };
}

/** The page that sets a new password. Browsers do not send the part after the #. */
export function toResetUrl(publicUrl: string, token: string): string {
  return `${publicUrl}/reset#${token}`;
}

function noMailServer(): AppError {
  const message = 'This Tollkeeper sends no e-mail. Ask its administrator for a link to reset the password.';
  return new AppError('conflict', message);
}

/** The same error for tokens that never existed, expired, or were used or replaced. */
function notValid(): never {
  throw new AppError(
    'not_found',
    'This link is not valid: it was used or replaced, or it has expired. Ask for a new one.',
  );
}

/** The person with this login name or e-mail, as an operator typed it. Throws `not_found`. */
export async function requireUser(users: UserStore, name: string): Promise<User> {
  const user = await users.findByLogin(name.trim().toLowerCase());
  if (user !== null && user.serviceAccount === undefined) return user;
  throw new AppError('not_found', `No user has the login name or the verified e-mail ${name}.`);
}
