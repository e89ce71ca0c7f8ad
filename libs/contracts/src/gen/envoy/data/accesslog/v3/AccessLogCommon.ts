// Original file: envoy/data/accesslog/v3/accesslog.proto

import type { Metadata as _envoy_config_core_v3_Metadata, Metadata__Output as _envoy_config_core_v3_Metadata__Output } from '../../../../envoy/config/core/v3/Metadata.ts';
import type { AccessLogType as _envoy_data_accesslog_v3_AccessLogType, AccessLogType__Output as _envoy_data_accesslog_v3_AccessLogType__Output } from '../../../../envoy/data/accesslog/v3/AccessLogType.ts';

export interface AccessLogCommon {
  'metadata'?: (_envoy_config_core_v3_Metadata | null);
  'accessLogType'?: (_envoy_data_accesslog_v3_AccessLogType);
}

export interface AccessLogCommon__Output {
  'metadata': (_envoy_config_core_v3_Metadata__Output | null);
  'accessLogType': (_envoy_data_accesslog_v3_AccessLogType__Output);
}
