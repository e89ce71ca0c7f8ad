// Original file: tollkeeper/identity/v1/identity.proto

import type { Session as _tollkeeper_identity_v1_Session, Session__Output as _tollkeeper_identity_v1_Session__Output } from '../../../tollkeeper/identity/v1/Session.ts';

export interface ResolveSessionResponse {
  /**
   * Unset when the session is not valid.
   */
  'session'?: (_tollkeeper_identity_v1_Session | null);
}

export interface ResolveSessionResponse__Output {
  /**
   * Unset when the session is not valid.
   */
  'session': (_tollkeeper_identity_v1_Session__Output | null);
}
