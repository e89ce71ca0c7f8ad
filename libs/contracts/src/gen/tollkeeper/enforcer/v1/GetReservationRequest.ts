// Original file: tollkeeper/enforcer/v1/enforcer.proto


export interface GetReservationRequest {
  'reservationId'?: (string);
}

export interface GetReservationRequest__Output {
  'reservationId': (string);
}
