// Original file: grpc/reflection/v1/reflection.proto


export interface ErrorResponse {
  'errorCode'?: (number);
  'errorMessage'?: (string);
}

export interface ErrorResponse__Output {
  'errorCode': (number);
  'errorMessage': (string);
}
