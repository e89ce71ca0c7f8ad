// Original file: tollkeeper/enforcer/v1/enforcer.proto

import type { FieldProblem as _tollkeeper_enforcer_v1_FieldProblem, FieldProblem__Output as _tollkeeper_enforcer_v1_FieldProblem__Output } from '../../../tollkeeper/enforcer/v1/FieldProblem.ts';

/**
 * Why a request of a batch or a stream was refused. The others were not.
 */
export interface RequestError {
  /**
   * The stable code that the HTTP API answers too, such as `conflict`.
   */
  'code'?: (string);
  /**
   * For a person.
   */
  'message'?: (string);
  /**
   * The fields that are wrong, for `invalid_request`.
   */
  'details'?: (_tollkeeper_enforcer_v1_FieldProblem)[];
  /**
   * When to try again. Unset for what is not to be repeated.
   */
  'retryAfterSeconds'?: (number);
  '_retryAfterSeconds'?: "retryAfterSeconds";
}

/**
 * Why a request of a batch or a stream was refused. The others were not.
 */
export interface RequestError__Output {
  /**
   * The stable code that the HTTP API answers too, such as `conflict`.
   */
  'code': (string);
  /**
   * For a person.
   */
  'message': (string);
  /**
   * The fields that are wrong, for `invalid_request`.
   */
  'details': (_tollkeeper_enforcer_v1_FieldProblem__Output)[];
  /**
   * When to try again. Unset for what is not to be repeated.
   */
  'retryAfterSeconds'?: (number);
  '_retryAfterSeconds'?: "retryAfterSeconds";
}
