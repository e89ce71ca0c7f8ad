import type { Cause } from '@tollkeeper/contracts';
import { AppError, type Clock } from '@tollkeeper/kernel';
import type { Account } from './account.ts';
import type { Attempt, AttemptLimiter } from './attempt.limiter.ts';
import type { PasswordHasher } from './password.hasher.ts';
import { mayUsePassword, type PasswordPolicy, passwordsAreOff, passwordUserOf } from './password.policy.ts';
import {
  isAlive,
  mintSession,
  nameIn,
  refreshed,
  type Session,
  sessionIdOf,
  type SessionOrigin,
  type SessionStore,
} from './session.ts';
import type { User, UserStore } from './user.ts';
import type { WorkspaceOfUser, WorkspaceStore } from './workspace.ts';

/** The cause of a change before the user is known. */
export type RequestCause = Omit<Cause, 'actor'>;

export interface AuthUseCases {
  /**
   * Opens a new session. Throws `unauthenticated` for an unknown e-mail and for a wrong password alike, `rate_limited`,
   * or `forbidden` if the password is right but the user may not log in with passwords.
   */
  login(attempt: LoginAttempt, password: string, request: RequestCause): Promise<Account & { cookie: string }>;
  /** The user with this login name or verified e-mail and this password. Fails as `login` does. */
  authenticate(attempt: Required<Attempt>, password: string, request: RequestCause): Promise<User>;
  logout(sessionSha256: string, cause: Cause): Promise<void>;
  account(userId: string): Promise<Account>;
  /** The user of a session, or null. Counts as a use of the session. */
  resolveSession(sessionSha256: string): Promise<ResolvedSession | null>;
  /** The active sessions of a user, newest first. */
  listSessions(userId: string): Promise<Session[]>;
  /** Ends a session of the user, named by its {@link sessionIdOf}. Throws `not_found`. */
  endSession(userId: string, sessionId: string, cause: Cause): Promise<void>;
  /** Ends all sessions of the user except the given one. */
  endOtherSessions(userId: string, sessionSha256: string | null, cause: Cause): Promise<void>;
  /** Sets a new password and revokes the user's other sessions. */
  changePassword(userId: string, change: PasswordChange, cause: Cause): Promise<void>;
}

type LoginAttempt = Required<Attempt> & Pick<SessionOrigin, 'userAgent'>;

interface ResolvedSession {
  userId: string;
  /** The display name of the user; for a service account, with the subject of its token. */
  userName: string;
  workspaces: WorkspaceOfUser[];
}

interface PasswordChange {
  currentPassword: string;
  newPassword: string;
  /** The session to keep; null if there is none. */
  sessionSha256: string | null;
  address: string;
}

export interface AuthDeps {
  users: UserStore;
  sessions: SessionStore;
  workspaces: WorkspaceStore;
  hasher: PasswordHasher;
  limiter: AttemptLimiter;
  passwordPolicy: PasswordPolicy;
  /**
   * Called for each failed log-in, with the user whose name was typed, or null if it belongs to nobody. It is not
   * awaited.
   */
  onRefused: (user: Pick<User, 'id' | 'name'> | null, request: RequestCause) => void;
  clock: Clock;
}

export function createAuthUseCases(deps: AuthDeps): AuthUseCases {
  const { users, sessions, workspaces, hasher, limiter, passwordPolicy, onRefused, clock } = deps;

  async function isRight(who: Attempt, password: string, hash: string | null): Promise<boolean> {
    await limiter.requireAllowed(who);
    const right = await hasher.verify(password, hash);
    // Checked again, because other attempts may have reached the limit meanwhile. A right guess after ten wrong ones
    // must not succeed, however many attempts run at the same time.
    if (right) await limiter.requireAllowed(who);
    else await limiter.recordFailure(who);
    return right;
  }

  async function account(userId: string): Promise<Account> {
    const [user, workspacesOfUser] = await Promise.all([users.findById(userId), workspaces.listOf(userId)]);
    if (user === null) throw new AppError('unauthenticated', 'You are not signed in. Log in and try again.');
    return { user, workspaces: workspacesOfUser };
  }

  function refuse(user: User | null, request: RequestCause): never {
    onRefused(user, request);
    throw wrongCredentials();
  }

  async function authenticate(
    { login, address }: Required<Attempt>,
    password: string,
    request: RequestCause,
  ): Promise<User> {
    const user = await users.findByLogin(login);
    // Failures count for the user, whichever of the user's names was typed.
    const who = { login: user?.loginName ?? login, address };
    const right = await isRight(who, password, user?.passwordHash ?? null);
    return right && user !== null ? user : refuse(user, request);
  }

  return {
    account,
    authenticate,

    async login({ login, address, userAgent }, password, request) {
      const user = await authenticate({ login, address }, password, request);
      const ofUser = await workspaces.listOf(user.id);
      if (!mayUsePassword(passwordPolicy, passwordUserOf({ user, workspaces: ofUser }))) {
        onRefused(user, request);
        throw passwordsAreOff(passwordPolicy);
      }
      const { cookie, session } = mintSession(user.id, clock(), { address, userAgent });
      const cause: Cause = { ...request, actor: { type: 'user', id: user.id, name: user.name } };
      if (!(await sessions.open(session, user.passwordHash, cause))) return refuse(user, request);
      return { cookie, user, workspaces: ofUser };
    },

    logout: (sessionSha256, cause) => sessions.revoke(sessionSha256, cause),

    async resolveSession(sessionSha256) {
      const session = await sessions.find(sessionSha256);
      const now = clock();
      if (session === null || !isAlive(session, now)) return null;
      const use = refreshed(session, now);
      if (use !== null) await sessions.extend(sessionSha256, use);
      const { userId } = session;
      const [user, ofUser] = await Promise.all([users.findById(userId), workspaces.listOf(userId)]);
      return { userId, userName: nameIn(session, user?.name ?? ''), workspaces: ofUser };
    },

    listSessions: (userId) => sessions.listOf(userId, new Date(clock())),

    async endSession(userId, sessionId, cause) {
      const found = (await sessions.listOf(userId, new Date(clock()))).find((each) => sessionIdOf(each) === sessionId);
      if (found === undefined) throw new AppError('not_found', 'You have no session with that id.');
      await sessions.revoke(found.sha256, cause);
    },

    endOtherSessions: (userId, sessionSha256, cause) => sessions.revokeOthers(userId, sessionSha256, cause),

    async changePassword(userId, { currentPassword, newPassword, sessionSha256, address }, cause) {
      const { user } = await account(userId);
      const who = { login: user.loginName, address };
      if (!(await isRight(who, currentPassword, user.passwordHash))) throw wrongCurrentPassword();
      if (newPassword === currentPassword) throw samePassword();
      const to = await hasher.hash(newPassword);
      const change = { from: user.passwordHash, to, keepSession: sessionSha256 };
      if (!(await users.changePassword(userId, change, cause))) throw wrongCurrentPassword();
    },
  };
}

function wrongCredentials(): AppError {
  return new AppError('unauthenticated', 'The e-mail or the password is wrong.');
}

function samePassword(): AppError {
  const details = [{ path: 'new_password', message: 'is your current password; choose another' }];
  return new AppError('invalid_request', 'The new password is the same as your current one.', { details });
}

function wrongCurrentPassword(): AppError {
  const details = [{ path: 'current_password', message: 'is not your password' }];
  return new AppError('invalid_request', 'The current password is wrong.', { details });
}
