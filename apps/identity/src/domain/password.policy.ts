import { AppError, type Role } from '@tollkeeper/kernel';
import type { Account } from './account.ts';

/** Who may log in with a password. */
export const PASSWORD_LOGINS = ['all', 'owners', 'none'] as const;
type PasswordLogin = (typeof PASSWORD_LOGINS)[number];

export interface PasswordPolicy {
  allowed: PasswordLogin;
  /**
   * Login name or verified e-mail of the one owner who always may, so that a provider that is down locks nobody out.
   */
  breakGlass: string | null;
}

/** Whether a user whose password is right may log in with it. */
export function mayUsePassword(
  { allowed, breakGlass }: PasswordPolicy,
  { names, roles }: { names: readonly string[]; roles: readonly Role[] },
): boolean {
  if (allowed === 'all') return true;
  const isOwner = roles.includes('owner');
  if (allowed === 'owners') return isOwner;
  return isOwner && breakGlass !== null && names.includes(breakGlass);
}

/** What the policy needs to know about an account. */
export function passwordUserOf({ user, workspaces }: Account): { names: string[]; roles: Role[] } {
  const { loginName, email, emailVerified } = user;
  const names = [loginName, ...(emailVerified && email !== null ? [email] : [])];
  return { names, roles: workspaces.map(({ role }) => role) };
}

/** The error for a user whose password is right but not allowed. */
export function passwordsAreOff({ allowed }: PasswordPolicy): AppError {
  const who = allowed === 'owners' ? 'Only owners of a workspace can log in' : 'Nobody can log in';
  return new AppError('forbidden', `${who} with a password here. Log in with single sign-on.`);
}
