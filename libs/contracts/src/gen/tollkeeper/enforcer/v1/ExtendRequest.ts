// Original file: tollkeeper/enforcer/v1/enforcer.proto


export interface ExtendRequest {
  'reservationId'?: (string);
  /**
   * How long it is held from now on, 10 to 3600.
   */
  'ttlSeconds'?: (number);
}

export interface ExtendRequest__Output {
  'reservationId': (string);
  /**
   * How long it is held from now on, 10 to 3600.
   */
  'ttlSeconds': (number);
}
