import { AppError, type Clock } from '@tollkeeper/kernel';
import type { Account } from './account.ts';
import type { Attempt, AttemptLimiter } from './attempt.limiter.ts';
import type { PasswordHasher } from './password.hasher.ts';
import { isAlive, mintSession, refreshedEnd, type SessionStore } from './session.ts';
import { isFirstPassword, type UserStore } from './user.ts';
import type { WorkspaceOfUser, WorkspaceStore } from './workspace.ts';

export interface AuthUseCases {
  /**
   * Opens a new session. Throws `unauthenticated` for an unknown e-mail and for a wrong password alike, or
   * `rate_limited`.
   */
  login(attempt: Required<Attempt>, password: string): Promise<Account & { cookie: string }>;
  logout(sessionSha256: string): Promise<void>;
  account(userId: string): Promise<Account>;
  /** The user of a session with their workspaces, or null. Counts as a use of the session. */
  resolveSession(sessionSha256: string): Promise<{ userId: string; workspaces: WorkspaceOfUser[] } | null>;
  /** Sets a new password and revokes the other sessions of the user. */
  changePassword(userId: string, change: PasswordChange): Promise<void>;
}

export interface PasswordChange {
  currentPassword: string;
  newPassword: string;
  /** The session that is kept; null when there is none. */
  sessionSha256: string | null;
  address: string;
}

export interface AuthDeps {
  users: UserStore;
  sessions: SessionStore;
  workspaces: WorkspaceStore;
  hasher: PasswordHasher;
  limiter: AttemptLimiter;
  clock: Clock;
}

export function createAuthUseCases({ users, sessions, workspaces, hasher, limiter, clock }: AuthDeps): AuthUseCases {
  async function isRight(who: Attempt, password: string, hash: string | null): Promise<boolean> {
    await limiter.requireAllowed(who);
    const right = await hasher.verify(password, hash);
    // Checked again, because other attempts may have reached the limit meanwhile. A right guess after ten wrong ones
    // must not get through, however many attempts run at the same time.
    if (right) await limiter.requireAllowed(who);
    else await limiter.recordFailure(who);
    return right;
  }

  async function account(userId: string): Promise<Account> {
    const [user, workspacesOfUser] = await Promise.all([users.findById(userId), workspaces.listOf(userId)]);
    if (user === null) throw new AppError('unauthenticated', 'You are not signed in. Log in and try again.');
    return { user, workspaces: workspacesOfUser };
  }

  return {
    account,

    async login({ login, address }, password) {
      const user = await users.findByLogin(login);
      // Failures count for the user, whichever of their names was typed.
      const who = { login: user?.loginName ?? login, address };
      const right = await isRight(who, password, user?.passwordHash ?? null);
      if (!right || user === null) throw wrongCredentials();
      const mustChangePassword = user.mustChangePassword ?? isFirstPassword(password);
      const { cookie, session } = mintSession(user.id, clock(), { mustChangePassword });
      if (!(await sessions.open(session, user.passwordHash))) throw wrongCredentials();
      return { cookie, user, workspaces: await workspaces.listOf(user.id) };
    },

    logout: (sessionSha256) => sessions.revoke(sessionSha256),

    async resolveSession(sessionSha256) {
      const session = await sessions.find(sessionSha256);
      const now = clock();
      if (session === null || !isAlive(session, now)) return null;
      const end = refreshedEnd(session, now);
      if (end !== null) await sessions.extend(sessionSha256, end);
      return { userId: session.userId, workspaces: await workspaces.listOf(session.userId) };
    },

    async changePassword(userId, { currentPassword, newPassword, sessionSha256, address }) {
      const { user } = await account(userId);
      const who = { login: user.loginName, address };
      if (!(await isRight(who, currentPassword, user.passwordHash))) throw wrongCurrentPassword();
      const to = await hasher.hash(newPassword);
      const change = { from: user.passwordHash, to, keepSession: sessionSha256 };
      if (!(await users.changePassword(userId, change))) throw wrongCurrentPassword();
    },
  };
}

function wrongCredentials(): AppError {
  return new AppError('unauthenticated', 'The e-mail or the password is wrong.');
}

function wrongCurrentPassword(): AppError {
  const details = [{ path: 'current_password', message: 'is not your password' }];
  return new AppError('invalid_request', 'The current password is wrong.', { details });
}
