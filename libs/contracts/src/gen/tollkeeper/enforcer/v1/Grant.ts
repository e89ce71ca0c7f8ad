// Original file: tollkeeper/enforcer/v1/enforcer.proto

import type { Reservation as _tollkeeper_enforcer_v1_Reservation, Reservation__Output as _tollkeeper_enforcer_v1_Reservation__Output } from '../../../tollkeeper/enforcer/v1/Reservation.ts';

/**
 * The call may spend.
 */
export interface Grant {
  /**
   * Unset for a dry run.
   */
  'reservation'?: (_tollkeeper_enforcer_v1_Reservation | null);
}

/**
 * The call may spend.
 */
export interface Grant__Output {
  /**
   * Unset for a dry run.
   */
  'reservation': (_tollkeeper_enforcer_v1_Reservation__Output | null);
}
