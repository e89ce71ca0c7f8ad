// Original file: tollkeeper/keys/v1/keys.proto


/**
 * Records that are no calls, for the same reason.
 */
export interface NoCall {
  'reason'?: (string);
  'records'?: (number);
}

/**
 * Records that are no calls, for the same reason.
 */
export interface NoCall__Output {
  'reason': (string);
  'records': (number);
}
