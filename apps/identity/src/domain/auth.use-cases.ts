import { AppError, type Clock } from '@tollkeeper/kernel';
import type { Account } from './account.ts';
import type { Attempt, AttemptLimiter } from './attempt.limiter.ts';
import type { PasswordHasher } from './password.hasher.ts';
import {
  isAlive,
  mintSession,
  refreshed,
  type Session,
  sessionIdOf,
  type SessionOrigin,
  type SessionStore,
} from './session.ts';
import { isFirstPassword, type UserStore } from './user.ts';
import type { WorkspaceOfUser, WorkspaceStore } from './workspace.ts';

export interface AuthUseCases {
  /**
   * Opens a new session. Throws `unauthenticated` for an unknown e-mail and for a wrong password alike, or
   * `rate_limited`.
   */
  login(attempt: LoginAttempt, password: string): Promise<Account & { cookie: string }>;
  logout(sessionSha256: string): Promise<void>;
  account(userId: string): Promise<Account>;
  /** Who a session stands for, or null. Counts as a use of the session. */
  resolveSession(sessionSha256: string): Promise<ResolvedSession | null>;
  /** The sessions of a user that have not ended, newest first. */
  listSessions(userId: string): Promise<Session[]>;
  /** Ends a session of the user, by what {@link sessionIdOf} calls it. Throws `not_found`. */
  endSession(userId: string, sessionId: string): Promise<void>;
  /** Ends all sessions of the user but the named one. */
  endOtherSessions(userId: string, sessionSha256: string | null): Promise<void>;
  /** Sets a new password and revokes the other sessions of the user. */
  changePassword(userId: string, change: PasswordChange): Promise<void>;
}

export type LoginAttempt = Required<Attempt> & Pick<SessionOrigin, 'userAgent'>;

export interface ResolvedSession {
  userId: string;
  /** None while the password must be changed. */
  workspaces: WorkspaceOfUser[];
  /** The session may do nothing but change the password. */
  mustChangePassword: boolean;
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

    async login({ login, address, userAgent }, password) {
      const user = await users.findByLogin(login);
      // Failures count for the user, whichever of their names was typed.
      const who = { login: user?.loginName ?? login, address };
      const right = await isRight(who, password, user?.passwordHash ?? null);
      if (!right || user === null) throw wrongCredentials();
      const mustChangePassword = user.mustChangePassword ?? isFirstPassword(password);
      const { cookie, session } = mintSession(user.id, clock(), { address, userAgent, mustChangePassword });
      if (!(await sessions.open(session, user.passwordHash))) throw wrongCredentials();
      const opened = { ...user, mustChangePassword };
      return { cookie, user: opened, workspaces: await workspaces.listOf(user.id) };
    },

    logout: (sessionSha256) => sessions.revoke(sessionSha256),

    async resolveSession(sessionSha256) {
      const session = await sessions.find(sessionSha256);
      const now = clock();
      if (session === null || !isAlive(session, now)) return null;
      const use = refreshed(session, now);
      if (use !== null) await sessions.extend(sessionSha256, use);
      const { userId, mustChangePassword } = session;
      return { userId, mustChangePassword, workspaces: mustChangePassword ? [] : await workspaces.listOf(userId) };
    },

    listSessions: (userId) => sessions.listOf(userId, new Date(clock())),

    async endSession(userId, sessionId) {
      const found = (await sessions.listOf(userId, new Date(clock()))).find((each) => sessionIdOf(each) === sessionId);
      if (found === undefined) throw new AppError('not_found', 'You have no session with that id.');
      await sessions.revoke(found.sha256);
    },

    endOtherSessions: (userId, sessionSha256) => sessions.revokeOthers(userId, sessionSha256),

    async changePassword(userId, { currentPassword, newPassword, sessionSha256, address }) {
      const { user } = await account(userId);
      const who = { login: user.loginName, address };
      if (!(await isRight(who, currentPassword, user.passwordHash))) throw wrongCurrentPassword();
      if (newPassword === currentPassword) throw samePassword();
      const to = await hasher.hash(newPassword);
      const change = { from: user.passwordHash, to, keepSession: sessionSha256 };
      if (!(await users.changePassword(userId, change))) throw wrongCurrentPassword();
    },
  };
}

function wrongCredentials(): AppError {
  return new AppError('unauthenticated', 'The e-mail or the password is wrong.');
}

function samePassword(): AppError {
  const details = [{ path: 'new_password', message: 'is your password now; choose another' }];
  return new AppError('invalid_request', 'The new password is the one that you have.', { details });
}

function wrongCurrentPassword(): AppError {
  const details = [{ path: 'current_password', message: 'is not your password' }];
  return new AppError('invalid_request', 'The current password is wrong.', { details });
}
