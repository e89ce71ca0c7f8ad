import { randomInt } from 'node:crypto';
import type { Cause } from '@tollkeeper/contracts';
import { AppError, type Clock, newId } from '@tollkeeper/kernel';
import type { PasswordHasher } from './password.hasher.ts';

/** A person who can log in. Who they are is said by `id` alone: an e-mail that nobody verified belongs to nobody. */
export interface User {
  id: string;
  /** What they log in with: lower case and unique. Often an e-mail, but it proves nothing about one. */
  loginName: string;
  name: string;
  /** Where they can be reached: lower case. Several users may have the same one as long as it is not verified. */
  email: string | null;
  /** They have proved that the e-mail is theirs. Then it is verified for nobody else. */
  emailVerified: boolean;
  /** PHC string (`password.hasher.ts`); null for who logs in by single sign-on alone. */
  passwordHash: string | null;
  createdAt: Date;
}

export interface UserStore {
  findById(userId: string): Promise<User | null>;
  /** The user with this login name or, where nobody has it, with this verified e-mail. */
  findByLogin(loginNameOrEmail: string): Promise<User | null>;
  findByVerifiedEmail(email: string): Promise<User | null>;
  /**
   * Replaces the password, and revokes all sessions of the user except the named one,
   * in one step. False, with nothing changed, when the password is no longer `from`. The audit log of each workspace of
   * the user is told.
   */
  changePassword(
    userId: string,
    change: { from: string | null; to: string; keepSession: string | null },
    cause: Cause,
  ): Promise<boolean>;
}

const MAX_LOGIN_NAME_LENGTH = 64;
const OTHER_LOGIN_NAMES = 8;

/** The part of an e-mail before the @. */
export function localPartOf(email: string): string {
  return email.slice(0, email.lastIndexOf('@'));
}

/**
 * Login names for a new user, of which to take the first that is free: made of a name or of the part of an e-mail
 * before the @, and never an e-mail, so that whoever gets one learns nothing of other users' e-mails. The last ones are
 * always free but for a chance of one in 10^8.
 */
export function loginNamesFor(name: string): string[] {
  const base = name
    .toLowerCase()
    .replaceAll(/[^a-z0-9._-]+/g, '-')
    .slice(0, MAX_LOGIN_NAME_LENGTH - 9);
  const numbered = Array.from({ length: OTHER_LOGIN_NAMES }, (_, index) => `${base}-${randomInt(10 ** (index + 1))}`);
  return [base, ...numbered];
}

export function loginNameTaken(): AppError {
  const details = [{ path: 'login_name', message: 'is taken; choose another, or leave it out to get one' }];
  return new AppError('conflict', 'That login name is taken. Choose another.', { details });
}

/** A new user who logs in with the e-mail. Default of `name`: the part of the e-mail before the @. */
export async function draftUser(
  { hasher, clock }: { hasher: PasswordHasher; clock: Clock },
  { email, name, password }: { email: string; name?: string | undefined; password: string },
): Promise<User> {
  const passwordHash = await hasher.hash(password);
  return {
    ...{ id: newId('user'), loginName: email, name: name ?? localPartOf(email) },
    ...{ email, emailVerified: false, passwordHash },
    createdAt: new Date(clock()),
  };
}
