import type { Cause } from '@tollkeeper/contracts';
import type { Role, TenantId } from '@tollkeeper/kernel';
import type { Session } from '../session.ts';
import type { User } from '../user.ts';
import type { ClaimsReport, Grant } from './claims.ts';
import type { Facts, OidcFailureCode } from './failure.ts';
import type { CurrentMembership, TenantRole } from './membership.plan.ts';
import type { Proof } from './oidc.client.ts';
import type { Person } from './person.ts';

/**
 * A log-in in progress at a provider. It is kept here and not in its cookie: so each is used once, by one atomic
 * step for all replicas, and the log-ins of several tabs share one cookie.
 */
export interface Transaction {
  providerId: string;
  proof: Proof;
  /** SHA-256 of the cookie of the browser that began it. */
  browserSha256: string;
  returnTo: string;
  expiresAt: Date;
}

/** Somebody who comes back from a provider, with what it says of them. */
export interface Arrival {
  providerId: string;
  person: Person;
  report: ClaimsReport;
  grants: Grant[];
  returnTo: string;
}

/** Somebody whom a provider vouches for and who still has to prove their account here. */
export interface PendingLink {
  id: string;
  browserSha256: string;
  arrival: Arrival;
  /** They may get an account of their own instead. */
  mayBeNew: boolean;
  expiresAt: Date;
}

/** Why a log-in failed, for the page that says so. */
export interface FailedLogIn {
  id: string;
  providerId: string;
  code: OidcFailureCode;
  facts: Facts;
  expiresAt: Date;
}

/** Things of a log-in that are there for minutes. They are found until they expire, and by the browser they are of. */
export interface PassingStore {
  begin(transaction: Transaction): Promise<void>;
  /** Takes it away in the same step, so each is found once. */
  take(state: string, browserSha256: string, now: number): Promise<Transaction | null>;
  keepLink(link: PendingLink): Promise<void>;
  findLink(id: string, browserSha256: string, now: number): Promise<PendingLink | null>;
  /** As `findLink`, once. */
  takeLink(id: string, browserSha256: string, now: number): Promise<PendingLink | null>;
  keepFailure(failure: FailedLogIn): Promise<void>;
  findFailure(id: string, now: number): Promise<FailedLogIn | null>;
}

/** A role that the mapping gave at a log-in, with the rule that gave it. */
export interface StoredGrant extends TenantRole {
  claim: string;
  value: string;
}

/** What the last log-in of a person by a provider said of them. */
export interface LogInReport {
  providerId: string;
  issuer: string;
  subject: string;
  at: Date;
  report: ClaimsReport;
  grants: StoredGrant[];
}

type Identity = Pick<Person, 'issuer' | 'subject'>;

/** A log-in, as the audit log records it. */
export interface LogInRequest extends Pick<Cause, 'address' | 'userAgent' | 'requestId'> {
  providerId: string;
}

/** The people whom providers know, each linked to one user. */
export interface LinkStore {
  findUser(identity: Identity): Promise<string | null>;
  /**
   * Whether a user claims the e-mail, as login name or contact, without having verified it, and has a password to prove
   * the account with.
   */
  isClaimed(email: string): Promise<boolean>;
  /** Whether an owner has invited the e-mail, and the invitation is open. */
  isInvited(email: string, now: number): Promise<boolean>;
  /**
   * Links the person to the user, who also gets their e-mail if it is proven. False, with nothing changed, when the
   * person is linked to somebody already. Rejects with `conflict` when `passwordHash` is given and no longer the
   * user's.
   */
  link(
    person: Person,
    user: { id: string; passwordHash?: string | null },
    at: Date,
    by: LogInRequest,
  ): Promise<boolean>;
  /** Stores the user, with the first of the login names that is free, and links the person to them, both or neither. */
  signUp(person: Person, user: User, loginNames: readonly string[]): Promise<boolean>;
  /** Replaces the report of the person's last log-in. */
  record(report: LogInReport): Promise<void>;
  /** Of all people who are linked to the user. */
  reportsOf(userId: string): Promise<LogInReport[]>;
  /**
   * Stores the session if the person is linked to its user. False, with nothing stored, otherwise. The user remembers
   * that the password must be changed.
   */
  openSession(session: Session, identity: Identity, by: LogInRequest): Promise<boolean>;
  /** Tells the workspaces of a user that they were not let in. */
  recordRefusal(userId: string, reason: string, by: LogInRequest): Promise<void>;
}

/** The memberships that come from single sign-on. */
export interface GrantStore {
  /** Ids of the workspaces with these slugs. */
  resolve(slugs: readonly string[]): Promise<Map<string, TenantId>>;
  membershipsOf(userId: string): Promise<CurrentMembership[]>;
  /**
   * Gives or takes a role as `settleMembership` decides, alone among the changes of memberships in the workspace. Who
   * is an owner no longer has no open invitations any more. Rejects with `conflict` when the user has as many
   * memberships, or the workspace as many members, as there may be.
   */
  apply(tenantId: TenantId, userId: string, role: Role | null, at: Date, by: LogInRequest): Promise<void>;
}
