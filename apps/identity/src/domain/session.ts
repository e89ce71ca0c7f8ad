import { randomBytes } from 'node:crypto';
import type { Cause } from '@tollkeeper/contracts';
import { digestOf } from '@tollkeeper/kernel';

/** A session ends 12 h after its last use or 7 d after login, whichever comes first. */
export const SESSION_IDLE_MS = 12 * 3_600_000;
export const SESSION_ABSOLUTE_MS = 7 * 86_400_000;
/** A session of a service account ends 15 min after login, and at most 5 min after the token that opened it. */
const MACHINE_SESSION_MS = 15 * 60_000;
const MACHINE_GRACE_MS = 5 * 60_000;
/** Uses within this time after the stored one are not stored. */
const REFRESH_MS = 60_000;

/** A stored session. It has only a digest of the cookie, so a copy of the database lets nobody log in. */
export interface Session {
  /** SHA-256 of the cookie, in hex. */
  sha256: string;
  userId: string;
  createdAt: Date;
  expiresAt: Date;
  /** Accurate to a minute. */
  lastSeenAt: Date;
  /** The origin of the session, so that its user recognizes it; empty if unknown. */
  address: string;
  userAgent: string;
  /** The subject of the token that opened it, for a service account. Such a session ends at its time, used or not. */
  subject?: string;
}

/** Opened and revoked sessions are written to the audit log of each workspace of the user. */
export interface SessionStore {
  /**
   * Stores the session if the user's password is still `passwordHash`, so that a log-in during a change of the password
   * leaves no session. False, with nothing stored, otherwise.
   */
  open(session: Session, passwordHash: string | null, cause: Cause): Promise<boolean>;
  find(sha256: string): Promise<Session | null>;
  /** The user's active sessions at `now`, newest first, at most {@link MAX_LISTED_SESSIONS}. */
  listOf(userId: string, now: Date): Promise<Session[]>;
  /** Extends the session, unless it is revoked. */
  extend(sha256: string, use: SessionUse): Promise<void>;
  revoke(sha256: string, cause: Cause): Promise<void>;
  /** Revokes all sessions of a user except the given one, and the logins of programs that the user has confirmed. */
  revokeOthers(userId: string, sha256: string | null, cause: Cause): Promise<void>;
}

/** The fields that a use of a session changes. */
export type SessionUse = Pick<Session, 'lastSeenAt' | 'expiresAt'>;

export const MAX_LISTED_SESSIONS = 500;

/** The public id of a session. It reveals neither the cookie nor its stored digest. */
export function sessionIdOf({ sha256 }: Pick<Session, 'sha256'>): string {
  return `ses_${digestOf(sha256).slice(0, 20)}`;
}

/** What a session needs besides its user. */
export interface SessionOrigin {
  address: string;
  userAgent: string;
}

/** 256 random bits. */
function newCookie(): string {
  return randomBytes(32).toString('base64url');
}

/** A new session and its cookie. */
export function mintSession(
  userId: string,
  now: number,
  { address, userAgent }: SessionOrigin,
): { cookie: string; session: Session } {
  const cookie = newCookie();
  const createdAt = new Date(now);
  const session = {
    ...{ sha256: digestOf(cookie), userId, createdAt, expiresAt: endOf(createdAt, now) },
    ...{ lastSeenAt: createdAt, address, userAgent },
  };
  return { cookie, session };
}

/** A session of a service account, and its cookie. It ends soon after the token that opened it. */
export function mintMachineSession(
  now: number,
  origin: SessionOrigin,
  token: { subject: string; expiresAt: Date },
): { cookie: string; session: Omit<Session, 'userId'> } {
  const cookie = newCookie();
  const createdAt = new Date(now);
  const expiresAt = new Date(Math.min(now + MACHINE_SESSION_MS, token.expiresAt.getTime() + MACHINE_GRACE_MS));
  const session = { sha256: digestOf(cookie), createdAt, expiresAt, lastSeenAt: createdAt, ...origin };
  return { cookie, session: { ...session, subject: token.subject } };
}

/** The name of the session's user for the audit log. It tells with which token a service account came in. */
export function nameIn({ subject }: Session, userName: string): string {
  return subject === undefined ? userName : `${userName} (${subject})`;
}

export function isAlive(session: Session, now: number): boolean {
  return now < session.expiresAt.getTime();
}

/** The change by a use at `now`; null if it is too small to store. */
export function refreshed(session: Session, now: number): SessionUse | null {
  if (now - session.lastSeenAt.getTime() < REFRESH_MS) return null;
  const expiresAt = session.subject === undefined ? endOf(session.createdAt, now) : session.expiresAt;
  return { lastSeenAt: new Date(now), expiresAt };
}

function endOf(createdAt: Date, lastUse: number): Date {
  return new Date(Math.min(lastUse + SESSION_IDLE_MS, createdAt.getTime() + SESSION_ABSOLUTE_MS));
}
