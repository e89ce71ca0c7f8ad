// Original file: tollkeeper/keys/v1/keys.proto


export interface VerifyKeyRequest {
  /**
   * The part of the key between `ws_live_` and the dot: 16 base62 characters.
   */
  'keyId'?: (string);
  /**
   * SHA-256 of the bytes of the whole key: 32 bytes. The key itself never travels between services.
   */
  'keySha256'?: (Buffer | Uint8Array | string);
}

export interface VerifyKeyRequest__Output {
  /**
   * The part of the key between `ws_live_` and the dot: 16 base62 characters.
   */
  'keyId': (string);
  /**
   * SHA-256 of the bytes of the whole key: 32 bytes. The key itself never travels between services.
   */
  'keySha256': (Buffer);
}
