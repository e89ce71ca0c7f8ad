import { randomInt } from 'node:crypto';
import type { Cause } from '@tollkeeper/contracts';
import { AppError, type Clock, newId } from '@tollkeeper/kernel';
import type { PasswordHasher } from './password.hasher.ts';

/** A machine that logs in with tokens of an issuer, as a member of one workspace. */
interface ServiceAccount {
  issuer: string;
  /** Name in the workspace and at the issuer. */
  account: string;
  /** Provider and subject of the last token. */
  providerId: string;
  subject: string;
}

/** Who can log in: a person or a service account. Only `id` identifies them: an unverified e-mail belongs to nobody. */
export interface User {
  id: string;
  /** The name to log in with: lower case and unique. Often an e-mail, but it does not prove one. */
  loginName: string;
  name: string;
  /** Contact e-mail in lower case. Several users may have the same one while it is not verified. */
  email: string | null;
  /** Whether they have proved that the e-mail is theirs. It can be verified for one user only. */
  emailVerified: boolean;
  /** PHC string (`password.hasher.ts`); null for users of single sign-on only, and for service accounts. */
  passwordHash: string | null;
  createdAt: Date;
  /** Absent for people. */
  serviceAccount?: ServiceAccount;
}

export interface UserStore {
  findById(userId: string): Promise<User | null>;
  /** The user with this login name or, if nobody has it, with this verified e-mail. */
  findByLogin(loginNameOrEmail: string): Promise<User | null>;
  findByVerifiedEmail(email: string): Promise<User | null>;
  /**
   * Replaces the password and revokes all sessions of the user except the given one, in one step. False, with nothing
   * changed, if the password is no longer `from`. Written to the audit log of each workspace of the user.
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
 * Login names for a new user, of which to take the first free one. They are made from a name or from the part of an
 * e-mail before the @. They are never an e-mail, so a taken one reveals nothing of other users' e-mails. The last ones
 * are free except for a chance of one in 10^8.
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
  const details = [{ path: 'login_name', message: 'is taken; choose another, or omit it to get one' }];
  return new AppError('conflict', 'That login name is taken. Choose another.', { details });
}

/** A new user who logs in with the e-mail. `name` defaults to the part of the e-mail before the @. */
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
