// Original file: envoy/config/core/v3/base.proto


export interface HeaderValue {
  'key'?: (string);
  'value'?: (string);
  /**
   * Envoy sends the value as bytes in some messages.
   */
  'rawValue'?: (Buffer | Uint8Array | string);
}

export interface HeaderValue__Output {
  'key': (string);
  'value': (string);
  /**
   * Envoy sends the value as bytes in some messages.
   */
  'rawValue': (Buffer);
}
