// Original file: envoy/service/ratelimit/v3/rls.proto

import type { HeaderValue as _envoy_config_core_v3_HeaderValue, HeaderValue__Output as _envoy_config_core_v3_HeaderValue__Output } from '../../../../envoy/config/core/v3/HeaderValue.ts';
import type { Struct as _google_protobuf_Struct, Struct__Output as _google_protobuf_Struct__Output } from '../../../../google/protobuf/Struct.ts';

// Original file: envoy/service/ratelimit/v3/rls.proto

export const _envoy_service_ratelimit_v3_RateLimitResponse_Code = {
  UNKNOWN: 'UNKNOWN',
  OK: 'OK',
  OVER_LIMIT: 'OVER_LIMIT',
} as const;

export type _envoy_service_ratelimit_v3_RateLimitResponse_Code =
  | 'UNKNOWN'
  | 0
  | 'OK'
  | 1
  | 'OVER_LIMIT'
  | 2

export type _envoy_service_ratelimit_v3_RateLimitResponse_Code__Output = typeof _envoy_service_ratelimit_v3_RateLimitResponse_Code[keyof typeof _envoy_service_ratelimit_v3_RateLimitResponse_Code]

export interface RateLimitResponse {
  'overallCode'?: (_envoy_service_ratelimit_v3_RateLimitResponse_Code);
  'responseHeadersToAdd'?: (_envoy_config_core_v3_HeaderValue)[];
  'requestHeadersToAdd'?: (_envoy_config_core_v3_HeaderValue)[];
  'rawBody'?: (Buffer | Uint8Array | string);
  'dynamicMetadata'?: (_google_protobuf_Struct | null);
}

export interface RateLimitResponse__Output {
  'overallCode': (_envoy_service_ratelimit_v3_RateLimitResponse_Code__Output);
  'responseHeadersToAdd': (_envoy_config_core_v3_HeaderValue__Output)[];
  'requestHeadersToAdd': (_envoy_config_core_v3_HeaderValue__Output)[];
  'rawBody': (Buffer);
  'dynamicMetadata': (_google_protobuf_Struct__Output | null);
}
