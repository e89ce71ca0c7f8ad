// Original file: tollkeeper/identity/v1/identity.proto

import type { Membership as _tollkeeper_identity_v1_Membership, Membership__Output as _tollkeeper_identity_v1_Membership__Output } from '../../../tollkeeper/identity/v1/Membership.ts';

export interface Session {
  'userId'?: (string);
  /**
   * The workspaces of the user, in no particular order. Empty for a user without any, and while
   * `password_change_required` is true.
   */
  'memberships'?: (_tollkeeper_identity_v1_Membership)[];
  /**
   * The session may do nothing but change the password of its user, which somebody else knows.
   */
  'passwordChangeRequired'?: (boolean);
}

export interface Session__Output {
  'userId': (string);
  /**
   * The workspaces of the user, in no particular order. Empty for a user without any, and while
   * `password_change_required` is true.
   */
  'memberships': (_tollkeeper_identity_v1_Membership__Output)[];
  /**
   * The session may do nothing but change the password of its user, which somebody else knows.
   */
  'passwordChangeRequired': (boolean);
}
