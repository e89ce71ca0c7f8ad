// Original file: tollkeeper/enforcer/v1/enforcer.proto

import type { Reservation as _tollkeeper_enforcer_v1_Reservation, Reservation__Output as _tollkeeper_enforcer_v1_Reservation__Output } from '../../../tollkeeper/enforcer/v1/Reservation.ts';

export interface ReleaseResponse {
  /**
   * As it is now.
   */
  'reservation'?: (_tollkeeper_enforcer_v1_Reservation | null);
}

export interface ReleaseResponse__Output {
  /**
   * As it is now.
   */
  'reservation': (_tollkeeper_enforcer_v1_Reservation__Output | null);
}
