import { randomBytes } from 'node:crypto';
import type { Cause } from '@tollkeeper/contracts';
import { digestOf } from './digest.ts';

/** A session ends 12 h after its last use or 7 d after login, whichever comes first. */
export const SESSION_IDLE_MS = 12 * 3_600_000;
export const SESSION_ABSOLUTE_MS = 7 * 86_400_000;
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
  /** Revokes all sessions of a user except the given one. */
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

/** A new session and its cookie: 256 random bits in base64url. */
export function mintSession(
  userId: string,
  now: number,
  { address, userAgent }: SessionOrigin,
): { cookie: string; session: Session } {
  const cookie = randomBytes(32).toString('base64url');
  const createdAt = new Date(now);
  const session = {
    ...{ sha256: digestOf(cookie), userId, createdAt, expiresAt: endOf(createdAt, now) },
    ...{ lastSeenAt: createdAt, address, userAgent },
  };
  return { cookie, session };
}

export function isAlive(session: Session, now: number): boolean {
  return now < session.expiresAt.getTime();
}

/** The change by a use at `now`; null if it is too small to store. */
export function refreshed(session: Session, now: number): SessionUse | null {
  if (now - session.lastSeenAt.getTime() < REFRESH_MS) return null;
  return { lastSeenAt: new Date(now), expiresAt: endOf(session.createdAt, now) };
}

function endOf(createdAt: Date, lastUse: number): Date {
  return new Date(Math.min(lastUse + SESSION_IDLE_MS, createdAt.getTime() + SESSION_ABSOLUTE_MS));
}
