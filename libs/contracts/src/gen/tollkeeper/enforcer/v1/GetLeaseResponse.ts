// Original file: tollkeeper/enforcer/v1/enforcer.proto

import type { Lease as _tollkeeper_enforcer_v1_Lease, Lease__Output as _tollkeeper_enforcer_v1_Lease__Output } from '../../../tollkeeper/enforcer/v1/Lease.ts';

export interface GetLeaseResponse {
  'lease'?: (_tollkeeper_enforcer_v1_Lease | null);
}

export interface GetLeaseResponse__Output {
  'lease': (_tollkeeper_enforcer_v1_Lease__Output | null);
}
