// Original file: tollkeeper/enforcer/v1/enforcer.proto

import type { Lease as _tollkeeper_enforcer_v1_Lease, Lease__Output as _tollkeeper_enforcer_v1_Lease__Output } from '../../../tollkeeper/enforcer/v1/Lease.ts';
import type { Denial as _tollkeeper_enforcer_v1_Denial, Denial__Output as _tollkeeper_enforcer_v1_Denial__Output } from '../../../tollkeeper/enforcer/v1/Denial.ts';
import type { LimitStatus as _tollkeeper_enforcer_v1_LimitStatus, LimitStatus__Output as _tollkeeper_enforcer_v1_LimitStatus__Output } from '../../../tollkeeper/enforcer/v1/LimitStatus.ts';

export interface GrantLeaseResponse {
  'allowed'?: (_tollkeeper_enforcer_v1_Lease | null);
  'denied'?: (_tollkeeper_enforcer_v1_Denial | null);
  /**
   * One for each limit that applies. Empty when none is set.
   */
  'limits'?: (_tollkeeper_enforcer_v1_LimitStatus)[];
  /**
   * Exactly one is set.
   */
  'decision'?: "allowed"|"denied";
}

export interface GrantLeaseResponse__Output {
  'allowed'?: (_tollkeeper_enforcer_v1_Lease__Output | null);
  'denied'?: (_tollkeeper_enforcer_v1_Denial__Output | null);
  /**
   * One for each limit that applies. Empty when none is set.
   */
  'limits': (_tollkeeper_enforcer_v1_LimitStatus__Output)[];
  /**
   * Exactly one is set.
   */
  'decision'?: "allowed"|"denied";
}
