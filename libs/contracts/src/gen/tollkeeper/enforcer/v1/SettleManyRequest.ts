// Original file: tollkeeper/enforcer/v1/enforcer.proto

import type { SettleRequest as _tollkeeper_enforcer_v1_SettleRequest, SettleRequest__Output as _tollkeeper_enforcer_v1_SettleRequest__Output } from '../../../tollkeeper/enforcer/v1/SettleRequest.ts';

export interface SettleManyRequest {
  'requests'?: (_tollkeeper_enforcer_v1_SettleRequest)[];
}

export interface SettleManyRequest__Output {
  'requests': (_tollkeeper_enforcer_v1_SettleRequest__Output)[];
}
