// Original file: tollkeeper/enforcer/v1/enforcer.proto

import type { Reservation as _tollkeeper_enforcer_v1_Reservation, Reservation__Output as _tollkeeper_enforcer_v1_Reservation__Output } from '../../../tollkeeper/enforcer/v1/Reservation.ts';

export interface GetReservationResponse {
  'reservation'?: (_tollkeeper_enforcer_v1_Reservation | null);
}

export interface GetReservationResponse__Output {
  'reservation': (_tollkeeper_enforcer_v1_Reservation__Output | null);
}
