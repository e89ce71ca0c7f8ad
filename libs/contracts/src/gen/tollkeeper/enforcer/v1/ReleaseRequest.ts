// Original file: tollkeeper/enforcer/v1/enforcer.proto


export interface ReleaseRequest {
  'reservationId'?: (string);
}

export interface ReleaseRequest__Output {
  'reservationId': (string);
}
