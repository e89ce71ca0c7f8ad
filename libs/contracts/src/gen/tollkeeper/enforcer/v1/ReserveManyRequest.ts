// Original file: tollkeeper/enforcer/v1/enforcer.proto

import type { ReserveRequest as _tollkeeper_enforcer_v1_ReserveRequest, ReserveRequest__Output as _tollkeeper_enforcer_v1_ReserveRequest__Output } from '../../../tollkeeper/enforcer/v1/ReserveRequest.ts';

export interface ReserveManyRequest {
  'requests'?: (_tollkeeper_enforcer_v1_ReserveRequest)[];
}

export interface ReserveManyRequest__Output {
  'requests': (_tollkeeper_enforcer_v1_ReserveRequest__Output)[];
}
