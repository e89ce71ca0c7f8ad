// Original file: envoy/service/ratelimit/v3/rls.proto

import type { RateLimitDescriptor as _envoy_service_ratelimit_v3_RateLimitDescriptor, RateLimitDescriptor__Output as _envoy_service_ratelimit_v3_RateLimitDescriptor__Output } from '../../../../envoy/service/ratelimit/v3/RateLimitDescriptor.ts';

export interface RateLimitRequest {
  'domain'?: (string);
  'descriptors'?: (_envoy_service_ratelimit_v3_RateLimitDescriptor)[];
  /**
   * For the descriptors without their own.
   */
  'hitsAddend'?: (number);
}

export interface RateLimitRequest__Output {
  'domain': (string);
  'descriptors': (_envoy_service_ratelimit_v3_RateLimitDescriptor__Output)[];
  /**
   * For the descriptors without their own.
   */
  'hitsAddend': (number);
}
