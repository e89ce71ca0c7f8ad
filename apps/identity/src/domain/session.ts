import { createHash, randomBytes } from 'node:crypto';

/** A session ends 12 h after its last use and 7 d after login, whichever comes first. */
export const SESSION_IDLE_MS = 12 * 3_600_000;
export const SESSION_ABSOLUTE_MS = 7 * 86_400_000;
/** Uses within this time of the last one are not stored. */
const REFRESH_MS = 60_000;

/** A stored session. It has only a digest of the cookie, so a copy of the database logs nobody in. */
export interface Session {
  /** SHA-256 of the cookie's text, in hex. */
  sha256: string;
  userId: string;
  createdAt: Date;
  expiresAt: Date;
  /** The session may do nothing but change the password. */
  mustChangePassword: boolean;
}

export interface SessionStore {
  /**
   * Stores the session if the password of the user is still `passwordHash`. So a log-in during a change of the password
   * leaves no session. The user remembers `mustChangePassword`. False, with nothing stored, otherwise.
   */
  open(session: Session, passwordHash: string | null): Promise<boolean>;
  find(sha256: string): Promise<Session | null>;
  /** Extends the session. Does nothing when it is revoked. */
  extend(sha256: string, expiresAt: Date): Promise<void>;
  revoke(sha256: string): Promise<void>;
}

/** The digest under which the session of a cookie is stored. */
export function sessionDigest(cookie: string): string {
  return createHash('sha256').update(cookie).digest('hex');
}

/** A new session and the text of its cookie: 256 random bits in base64url. */
export function mintSession(
  userId: string,
  now: number,
  { mustChangePassword = false } = {},
): { cookie: string; session: Session } {
  const cookie = randomBytes(32).toString('base64url');
  const createdAt = new Date(now);
  const expiresAt = endOf(createdAt, now);
  return { cookie, session: { sha256: sessionDigest(cookie), userId, createdAt, expiresAt, mustChangePassword } };
}

export function isAlive(session: Session, now: number): boolean {
  return now < session.expiresAt.getTime();
}

/** The end of the session after a use at `now`; null when the change is too small to store. */
export function refreshedEnd(session: Session, now: number): Date | null {
  const end = endOf(session.createdAt, now);
  return end.getTime() - session.expiresAt.getTime() >= REFRESH_MS ? end : null;
}

function endOf(createdAt: Date, lastUse: number): Date {
  return new Date(Math.min(lastUse + SESSION_IDLE_MS, createdAt.getTime() + SESSION_ABSOLUTE_MS));
}
