// Original file: tollkeeper/enforcer/v1/enforcer.proto

import type { ReserveResult as _tollkeeper_enforcer_v1_ReserveResult, ReserveResult__Output as _tollkeeper_enforcer_v1_ReserveResult__Output } from '../../../tollkeeper/enforcer/v1/ReserveResult.ts';

export interface ReserveManyResponse {
  'results'?: (_tollkeeper_enforcer_v1_ReserveResult)[];
}

export interface ReserveManyResponse__Output {
  'results': (_tollkeeper_enforcer_v1_ReserveResult__Output)[];
}
