// Original file: tollkeeper/identity/v1/identity.proto

import type { Membership as _tollkeeper_identity_v1_Membership, Membership__Output as _tollkeeper_identity_v1_Membership__Output } from '../../../tollkeeper/identity/v1/Membership.ts';

export interface Session {
  'userId'?: (string);
  /**
   * The workspaces of the user, in no particular order. Empty for a user without any.
   */
  'memberships'?: (_tollkeeper_identity_v1_Membership)[];
  /**
   * What people call the user.
   */
  'userName'?: (string);
}

export interface Session__Output {
  'userId': (string);
  /**
   * The workspaces of the user, in no particular order. Empty for a user without any.
   */
  'memberships': (_tollkeeper_identity_v1_Membership__Output)[];
  /**
   * What people call the user.
   */
  'userName': (string);
}
