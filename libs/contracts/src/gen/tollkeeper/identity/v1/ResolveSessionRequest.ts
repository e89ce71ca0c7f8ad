// Original file: tollkeeper/identity/v1/identity.proto


export interface ResolveSessionRequest {
  /**
   * SHA-256 of the bytes of the cookie's text: 32 bytes. The cookie itself never travels between services.
   */
  'sessionSha256'?: (Buffer | Uint8Array | string);
}

export interface ResolveSessionRequest__Output {
  /**
   * SHA-256 of the bytes of the cookie's text: 32 bytes. The cookie itself never travels between services.
   */
  'sessionSha256': (Buffer);
}
