// Original file: envoy/service/ratelimit/v3/rls.proto

import type { UInt64Value as _google_protobuf_UInt64Value, UInt64Value__Output as _google_protobuf_UInt64Value__Output } from '../../../../google/protobuf/UInt64Value.ts';

export interface _envoy_service_ratelimit_v3_RateLimitDescriptor_Entry {
  'key'?: (string);
  'value'?: (string);
}

export interface _envoy_service_ratelimit_v3_RateLimitDescriptor_Entry__Output {
  'key': (string);
  'value': (string);
}

export interface RateLimitDescriptor {
  'entries'?: (_envoy_service_ratelimit_v3_RateLimitDescriptor_Entry)[];
  'hitsAddend'?: (_google_protobuf_UInt64Value | null);
}

export interface RateLimitDescriptor__Output {
  'entries': (_envoy_service_ratelimit_v3_RateLimitDescriptor_Entry__Output)[];
  'hitsAddend': (_google_protobuf_UInt64Value__Output | null);
}
