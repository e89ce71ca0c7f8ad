import type { Upstream } from './area.ts';
import type { Membership } from './membership.ts';

/** Who a session cookie stands for. */
export interface Session {
  userId: string;
  /** What people call the user; undefined where identity does not say. */
  name: string | undefined;
  memberships: readonly Membership[];
  /** The signed caller for a service, in a workspace or (null) in none; made once while the session is cached. */
  callerToken(service: Upstream, membership: Membership | null): Promise<string>;
}

export interface SessionDirectory {
  /**
   * Who `cookie` stands for; null when it is no valid session. Throws `service_unavailable` while identity can't be
   * asked.
   */
  resolve(cookie: string, requestId: string): Promise<Session | null>;
  /** As `resolve`, by a question that begins after the call: as of now, whatever is known from before. */
  resolveAnew(cookie: string, requestId: string): Promise<Session | null>;
  /** Asks identity again at the next use of `cookie`: its session or its user's memberships have changed. */
  forget(cookie: string): void;
}
