// Original file: envoy/service/auth/v3/external_auth.proto

import type { HeaderValueOption as _envoy_config_core_v3_HeaderValueOption, HeaderValueOption__Output as _envoy_config_core_v3_HeaderValueOption__Output } from '../../../../envoy/config/core/v3/HeaderValueOption.ts';

export interface OkHttpResponse {
  /**
   * Headers that Envoy adds to the request.
   */
  'headers'?: (_envoy_config_core_v3_HeaderValueOption)[];
}

export interface OkHttpResponse__Output {
  /**
   * Headers that Envoy adds to the request.
   */
  'headers': (_envoy_config_core_v3_HeaderValueOption__Output)[];
}
