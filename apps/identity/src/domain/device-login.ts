import { randomInt } from 'node:crypto';
import type { Cause } from '@tollkeeper/contracts';
import type { RequestCause } from './auth.use-cases.ts';
import type { Session, SessionOrigin } from './session.ts';

/** How long a person has to confirm a log-in of a program, and the program to collect its session. */
export const DEVICE_LOGIN_MS = 10 * 60_000;
/** Time between two polls of a program (RFC 8628 §3.2). */
export const POLL_SECONDS = 3;

/** Consonants alone, so that no code spells a word and no two letters look alike (RFC 8628 §6.1). */
export const USER_CODE_LETTERS = 'BCDFGHJKLMNPQRSTVWXZ';
export const USER_CODE_LENGTH = 8;

/** A log-in of a program, which a person confirms in a browser. */
export interface DeviceLogin {
  /** Where the program runs, which the person compares with what they started. */
  origin: SessionOrigin;
  createdAt: Date;
  expiresAt: Date;
  state: 'pending' | 'confirmed' | 'declined';
  /** Null before the first poll. */
  polledAt: Date | null;
  /** Rises for a program that polls too often. */
  intervalSeconds: number;
  /** Once a person has confirmed it. */
  confirmation: Confirmation | null;
}

/** Who confirmed a log-in. It counts while this session is open and the user's password is the same. */
interface Confirmation {
  userId: string;
  sessionSha256: string;
  /** Address of the browser. */
  address: string | null;
}

/** The codes are stored as SHA-256. */
interface DeviceCodes {
  deviceSha256: string;
  userSha256: string;
}

/** `gone` if the log-in has ended or was collected before, `refused` if its confirmation no longer counts. */
type Collected = 'collected' | 'gone' | 'refused';

/** Codes and log-ins of the past are never found, although the database removes them later. */
export interface DeviceLoginStore {
  /** Log-ins of the network of `address` that have not ended. */
  countOpen(address: string, now: Date): Promise<number>;
  /** False if another log-in has the user code. */
  add(codes: DeviceCodes, login: DeviceLogin): Promise<boolean>;
  find(deviceSha256: string, now: Date): Promise<DeviceLogin | null>;
  /** One that waits for a decision. */
  findPending(userSha256: string, now: Date): Promise<DeviceLogin | null>;
  recordPoll(deviceSha256: string, poll: Pick<DeviceLogin, 'intervalSeconds'> & { polledAt: Date }): Promise<void>;
  /** False unless the log-in waits for a decision. */
  confirm(userSha256: string, confirmation: Confirmation, now: Date): Promise<boolean>;
  /** False unless the log-in waits for a decision. Recorded in the audit log. */
  decline(userSha256: string, now: Date, cause: Cause): Promise<boolean>;
  /** Ends the log-in, and opens the session. Recorded in the audit log. */
  collect(deviceSha256: string, session: Session, now: Date, request: RequestCause): Promise<Collected>;
}

/** A new code for people, without its dash. */
export function newUserCode(): string {
  return Array.from({ length: USER_CODE_LENGTH }, () => USER_CODE_LETTERS[randomInt(USER_CODE_LETTERS.length)]).join(
    '',
  );
}

/** `BCDF-GHJK`, as people read and type it. */
export function shownUserCode(code: string): string {
  return `${code.slice(0, USER_CODE_LENGTH / 2)}-${code.slice(USER_CODE_LENGTH / 2)}`;
}
