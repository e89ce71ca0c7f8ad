// Original file: tollkeeper/enforcer/v1/enforcer.proto

import type { LeaseSettlement as _tollkeeper_enforcer_v1_LeaseSettlement, LeaseSettlement__Output as _tollkeeper_enforcer_v1_LeaseSettlement__Output } from '../../../tollkeeper/enforcer/v1/LeaseSettlement.ts';

export interface SettleLeaseRequest {
  'leaseId'?: (string);
  /**
   * 1 to 1000.
   */
  'settlements'?: (_tollkeeper_enforcer_v1_LeaseSettlement)[];
}

export interface SettleLeaseRequest__Output {
  'leaseId': (string);
  /**
   * 1 to 1000.
   */
  'settlements': (_tollkeeper_enforcer_v1_LeaseSettlement__Output)[];
}
