// Original file: envoy/data/accesslog/v3/accesslog.proto


export interface HTTPRequestProperties {
  /**
   * The header x-request-id.
   */
  'requestId'?: (string);
  /**
   * Those that Envoy is set to log, by their names in lower case.
   */
  'requestHeaders'?: ({[key: string]: string});
}

export interface HTTPRequestProperties__Output {
  /**
   * The header x-request-id.
   */
  'requestId': (string);
  /**
   * Those that Envoy is set to log, by their names in lower case.
   */
  'requestHeaders': ({[key: string]: string});
}
