// Original file: google/rpc/status.proto


export interface Status {
  /**
   * A status code of gRPC.
   */
  'code'?: (number);
  'message'?: (string);
}

export interface Status__Output {
  /**
   * A status code of gRPC.
   */
  'code': (number);
  'message': (string);
}
