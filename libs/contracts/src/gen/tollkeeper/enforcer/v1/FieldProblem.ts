// Original file: tollkeeper/enforcer/v1/enforcer.proto


export interface FieldProblem {
  /**
   * The field of the request, such as `amount_micros`.
   */
  'path'?: (string);
  'message'?: (string);
}

export interface FieldProblem__Output {
  /**
   * The field of the request, such as `amount_micros`.
   */
  'path': (string);
  'message': (string);
}
