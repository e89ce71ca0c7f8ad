// Original file: tollkeeper/enforcer/v1/enforcer.proto

import type { ReserveResponse as _tollkeeper_enforcer_v1_ReserveResponse, ReserveResponse__Output as _tollkeeper_enforcer_v1_ReserveResponse__Output } from '../../../tollkeeper/enforcer/v1/ReserveResponse.ts';
import type { RequestError as _tollkeeper_enforcer_v1_RequestError, RequestError__Output as _tollkeeper_enforcer_v1_RequestError__Output } from '../../../tollkeeper/enforcer/v1/RequestError.ts';

export interface ReserveResult {
  'response'?: (_tollkeeper_enforcer_v1_ReserveResponse | null);
  'error'?: (_tollkeeper_enforcer_v1_RequestError | null);
  /**
   * Exactly one is set.
   */
  'result'?: "response"|"error";
}

export interface ReserveResult__Output {
  'response'?: (_tollkeeper_enforcer_v1_ReserveResponse__Output | null);
  'error'?: (_tollkeeper_enforcer_v1_RequestError__Output | null);
  /**
   * Exactly one is set.
   */
  'result'?: "response"|"error";
}
