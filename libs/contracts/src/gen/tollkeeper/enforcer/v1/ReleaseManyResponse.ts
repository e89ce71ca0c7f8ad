// Original file: tollkeeper/enforcer/v1/enforcer.proto

import type { ReservationResult as _tollkeeper_enforcer_v1_ReservationResult, ReservationResult__Output as _tollkeeper_enforcer_v1_ReservationResult__Output } from '../../../tollkeeper/enforcer/v1/ReservationResult.ts';

export interface ReleaseManyResponse {
  'results'?: (_tollkeeper_enforcer_v1_ReservationResult)[];
}

export interface ReleaseManyResponse__Output {
  'results': (_tollkeeper_enforcer_v1_ReservationResult__Output)[];
}
