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
 * A log-in in progress at a provider. It is stored here instead of in a cookie, so that it is used once, in one atomic
 * step across all replicas, and log-ins in several tabs share one cookie.
 */
export interface Transaction {
  providerId: string;
  proof: Proof;
  /** SHA-256 of the cookie of the browser that started it. */
  browserSha256: string;
  returnTo: string;
  expiresAt: Date;
}

/** A person who returns from a provider, with what the provider says about them. */
export interface Arrival {
  providerId: string;
  person: Person;
  report: ClaimsReport;
  grants: Grant[];
  returnTo: string;
}

/** A person whom a provider vouches for and who still has to prove their account here. */
export interface PendingLink {
  id: string;
  browserSha256: string;
  arrival: Arrival;
  /** Whether they may create an account instead. */
  mayBeNew: boolean;
  expiresAt: Date;
}

/** Why a log-in failed, for the failure page. */
export interface FailedLogIn {
  id: string;
  providerId: string;
  code: OidcFailureCode;
  facts: Facts;
  expiresAt: Date;
}

/** Short-lived records of log-ins. They are found until they expire, and only for the browser that they belong to. */
export interface PassingStore {
  begin(transaction: Transaction): Promise<void>;
  /** Finds and removes it in one step, so each is found once. */
  take(state: string, browserSha256: string, now: number): Promise<Transaction | null>;
  keepLink(link: PendingLink): Promise<void>;
  findLink(id: string, browserSha256: string, now: number): Promise<PendingLink | null>;
  /** As `findLink`, but finds each link once. */
  takeLink(id: string, browserSha256: string, now: number): Promise<PendingLink | null>;
  keepFailure(failure: FailedLogIn): Promise<void>;
  findFailure(id: string, now: number): Promise<FailedLogIn | null>;
}

/** A role from the mapping at a log-in, with the rule that gave it. */
export interface StoredGrant extends TenantRole {
  claim: string;
  value: string;
}

/** The claims and grants of a person's last log-in by a provider. */
export interface LogInReport {
  providerId: string;
  issuer: string;
  subject: string;
  at: Date;
  report: ClaimsReport;
  grants: StoredGrant[];
}

type Identity = Pick<Person, 'issuer' | 'subject'>;

/** The request of a log-in, for the audit log. */
export interface LogInRequest extends Pick<Cause, 'address' | 'userAgent' | 'requestId'> {
  providerId: string;
}

/** The people whom providers know, each linked to one user. */
export interface LinkStore {
  findUser(identity: Identity): Promise<string | null>;
  /**
   * Whether a user claims the e-mail, as login name or unverified contact, and has a password to prove the account
   * with.
   */
  isClaimed(email: string): Promise<boolean>;
  /** Whether an owner has invited the e-mail, and the invitation is open. */
  isInvited(email: string, now: number): Promise<boolean>;
  /**
   * Links the person to the user, who also gets their e-mail if it is proven. False, with nothing changed, if the
   * person is already linked. Rejects with `conflict` if `passwordHash` is given and is no longer the user's.
   */
  link(
    person: Person,
    user: { id: string; passwordHash?: string | null },
    at: Date,
    by: LogInRequest,
  ): Promise<boolean>;
  /** Stores the user with the first free login name and links the person to them, both or neither. */
  signUp(person: Person, user: User, loginNames: readonly string[]): Promise<boolean>;
  /** Replaces the report of the person's last log-in. */
  record(report: LogInReport): Promise<void>;
  /** The reports of all people who are linked to the user. */
  reportsOf(userId: string): Promise<LogInReport[]>;
  /**
   * Stores the session if the person is linked to its user. False, with nothing stored, otherwise. Conflicts with a
   * concurrent reset of the password.
   */
  openSession(session: Session, identity: Identity, by: LogInRequest): Promise<boolean>;
  /** Records in the audit logs of the user's workspaces that the user was refused. */
  recordRefusal(userId: string, reason: string, by: LogInRequest): Promise<void>;
}

/** The memberships that come from single sign-on. */
export interface GrantStore {
  /** Ids of the workspaces with these slugs. */
  resolve(slugs: readonly string[]): Promise<Map<string, TenantId>>;
  membershipsOf(userId: string): Promise<CurrentMembership[]>;
  /**
   * Gives or ends a role as `settleMembership` decides, serialized with other changes of the workspace's memberships. A
   * former owner's open invitations end. Rejects with `conflict` if the user or the workspace is at its limit of
   * memberships.
   */
  apply(tenantId: TenantId, userId: string, role: Role | null, at: Date, by: LogInRequest): Promise<void>;
}
