import type { Session } from '../session.ts';
import type { Claims } from './claims.ts';
import type { LogInRequest } from './log-in.store.ts';
import type { MachineProvider, MachineRule } from './machine.provider.ts';

/** A token that was found right, before its first use. */
export interface VerifiedToken {
  claims: Claims;
  subject: string;
  /** Its own end. */
  expiresAt: Date;
  /** SHA-256 of the signed part: of one signature, there may be several valid forms. */
  sha256: string;
  /** When the token is refused for its age by every replica, whatever its clock. */
  forgettableAt: Date;
}

/** Checks tokens of one issuer. */
export interface TokenVerifier {
  /** Throws a `TokenRefusal`, or an `OidcFailure` if the issuer's keys cannot be read. */
  verify(token: string): Promise<VerifiedToken>;
}

/** A machine with a right token, and the rule that lets it in. */
export interface MachineArrival {
  provider: Pick<MachineProvider, 'id' | 'issuer'>;
  rule: MachineRule;
  token: Pick<VerifiedToken, 'subject' | 'sha256' | 'forgettableAt'>;
}

export interface MachineStore {
  /**
   * Uses up the token, gives the service account the role of the rule, and stores the session, all or nothing. The
   * account and its membership are created if they do not exist. Returns the account's user. Throws a `TokenRefusal` if
   * the token was already used or the workspace does not exist, and `conflict` if the workspace is full.
   */
  enter(arrival: MachineArrival, session: Omit<Session, 'userId'>, at: Date, by: LogInRequest): Promise<string>;
  /** Records in the workspace's audit log that the service account was refused, if it exists. */
  recordRefusal(arrival: MachineArrival, reason: string, by: LogInRequest): Promise<void>;
}
