// Original file: envoy/service/auth/v3/external_auth.proto


export interface _envoy_service_auth_v3_AttributeContext_HttpRequest {
  /**
   * The names are in lower case.
   */
  'headers'?: ({[key: string]: string});
  /**
   * The first bytes of the body, if Envoy is set to send it.
   */
  'body'?: (string);
  /**
   * The same, if Envoy is set to send it as bytes.
   */
  'rawBody'?: (Buffer | Uint8Array | string);
}

export interface _envoy_service_auth_v3_AttributeContext_HttpRequest__Output {
  /**
   * The names are in lower case.
   */
  'headers': ({[key: string]: string});
  /**
   * The first bytes of the body, if Envoy is set to send it.
   */
  'body': (string);
  /**
   * The same, if Envoy is set to send it as bytes.
   */
  'rawBody': (Buffer);
}

export interface _envoy_service_auth_v3_AttributeContext_Request {
  'http'?: (_envoy_service_auth_v3_AttributeContext_HttpRequest | null);
}

export interface _envoy_service_auth_v3_AttributeContext_Request__Output {
  'http': (_envoy_service_auth_v3_AttributeContext_HttpRequest__Output | null);
}

export interface AttributeContext {
  'request'?: (_envoy_service_auth_v3_AttributeContext_Request | null);
}

export interface AttributeContext__Output {
  'request': (_envoy_service_auth_v3_AttributeContext_Request__Output | null);
}
