import type { Upstream } from './area.ts';
import type { Membership } from './membership.ts';

/** The user of a session cookie. */
export interface Session {
  userId: string;
  /** Display name of the user; undefined if identity does not send it. */
  name: string | undefined;
  memberships: readonly Membership[];
  /** The signed caller token for a service, in a workspace or (null) in none. It is made once per cached session. */
  callerToken(service: Upstream, membership: Membership | null): Promise<string>;
}

export interface SessionDirectory {
  /** The session of `cookie`; null if it is not valid. Throws `service_unavailable` while identity cannot be asked. */
  resolve(cookie: string, requestId: string): Promise<Session | null>;
  /** As `resolve`, but always asks identity, with a question that starts after the call. */
  resolveAnew(cookie: string, requestId: string): Promise<Session | null>;
  /** Makes the next use of `cookie` ask identity again, since its session or its user's memberships have changed. */
  forget(cookie: string): void;
}
