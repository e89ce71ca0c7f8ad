// Original file: tollkeeper/enforcer/v1/enforcer.proto

import type { Reservation as _tollkeeper_enforcer_v1_Reservation, Reservation__Output as _tollkeeper_enforcer_v1_Reservation__Output } from '../../../tollkeeper/enforcer/v1/Reservation.ts';
import type { RequestError as _tollkeeper_enforcer_v1_RequestError, RequestError__Output as _tollkeeper_enforcer_v1_RequestError__Output } from '../../../tollkeeper/enforcer/v1/RequestError.ts';

export interface ReservationResult {
  /**
   * As it is now.
   */
  'reservation'?: (_tollkeeper_enforcer_v1_Reservation | null);
  'error'?: (_tollkeeper_enforcer_v1_RequestError | null);
  /**
   * Exactly one is set.
   */
  'result'?: "reservation"|"error";
}

export interface ReservationResult__Output {
  /**
   * As it is now.
   */
  'reservation'?: (_tollkeeper_enforcer_v1_Reservation__Output | null);
  'error'?: (_tollkeeper_enforcer_v1_RequestError__Output | null);
  /**
   * Exactly one is set.
   */
  'result'?: "reservation"|"error";
}
