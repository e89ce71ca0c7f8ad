// Original file: tollkeeper/enforcer/v1/enforcer.proto

import type { Lease as _tollkeeper_enforcer_v1_Lease, Lease__Output as _tollkeeper_enforcer_v1_Lease__Output } from '../../../tollkeeper/enforcer/v1/Lease.ts';
import type { LeaseSettlementResult as _tollkeeper_enforcer_v1_LeaseSettlementResult, LeaseSettlementResult__Output as _tollkeeper_enforcer_v1_LeaseSettlementResult__Output } from '../../../tollkeeper/enforcer/v1/LeaseSettlementResult.ts';

export interface SettleLeaseResponse {
  /**
   * As it is now.
   */
  'lease'?: (_tollkeeper_enforcer_v1_Lease | null);
  /**
   * One for each settlement, in their order.
   */
  'results'?: (_tollkeeper_enforcer_v1_LeaseSettlementResult)[];
}

export interface SettleLeaseResponse__Output {
  /**
   * As it is now.
   */
  'lease': (_tollkeeper_enforcer_v1_Lease__Output | null);
  /**
   * One for each settlement, in their order.
   */
  'results': (_tollkeeper_enforcer_v1_LeaseSettlementResult__Output)[];
}
