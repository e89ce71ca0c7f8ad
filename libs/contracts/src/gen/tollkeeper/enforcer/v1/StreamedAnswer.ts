// Original file: tollkeeper/enforcer/v1/enforcer.proto

import type { ReserveResponse as _tollkeeper_enforcer_v1_ReserveResponse, ReserveResponse__Output as _tollkeeper_enforcer_v1_ReserveResponse__Output } from '../../../tollkeeper/enforcer/v1/ReserveResponse.ts';
import type { Reservation as _tollkeeper_enforcer_v1_Reservation, Reservation__Output as _tollkeeper_enforcer_v1_Reservation__Output } from '../../../tollkeeper/enforcer/v1/Reservation.ts';
import type { RequestError as _tollkeeper_enforcer_v1_RequestError, RequestError__Output as _tollkeeper_enforcer_v1_RequestError__Output } from '../../../tollkeeper/enforcer/v1/RequestError.ts';

export interface StreamedAnswer {
  /**
   * That of the request.
   */
  'tag'?: (number);
  /**
   * The answer to `reserve`.
   */
  'response'?: (_tollkeeper_enforcer_v1_ReserveResponse | null);
  /**
   * The answer to `settle` and `release`: the reservation as it is now.
   */
  'reservation'?: (_tollkeeper_enforcer_v1_Reservation | null);
  'error'?: (_tollkeeper_enforcer_v1_RequestError | null);
  /**
   * Exactly one is set.
   */
  'answer'?: "response"|"reservation"|"error";
}

export interface StreamedAnswer__Output {
  /**
   * That of the request.
   */
  'tag': (number);
  /**
   * The answer to `reserve`.
   */
  'response'?: (_tollkeeper_enforcer_v1_ReserveResponse__Output | null);
  /**
   * The answer to `settle` and `release`: the reservation as it is now.
   */
  'reservation'?: (_tollkeeper_enforcer_v1_Reservation__Output | null);
  'error'?: (_tollkeeper_enforcer_v1_RequestError__Output | null);
  /**
   * Exactly one is set.
   */
  'answer'?: "response"|"reservation"|"error";
}
