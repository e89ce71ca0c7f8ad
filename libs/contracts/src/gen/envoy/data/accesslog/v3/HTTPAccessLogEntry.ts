// Original file: envoy/data/accesslog/v3/accesslog.proto

import type { AccessLogCommon as _envoy_data_accesslog_v3_AccessLogCommon, AccessLogCommon__Output as _envoy_data_accesslog_v3_AccessLogCommon__Output } from '../../../../envoy/data/accesslog/v3/AccessLogCommon.ts';
import type { HTTPRequestProperties as _envoy_data_accesslog_v3_HTTPRequestProperties, HTTPRequestProperties__Output as _envoy_data_accesslog_v3_HTTPRequestProperties__Output } from '../../../../envoy/data/accesslog/v3/HTTPRequestProperties.ts';
import type { HTTPResponseProperties as _envoy_data_accesslog_v3_HTTPResponseProperties, HTTPResponseProperties__Output as _envoy_data_accesslog_v3_HTTPResponseProperties__Output } from '../../../../envoy/data/accesslog/v3/HTTPResponseProperties.ts';

export interface HTTPAccessLogEntry {
  'commonProperties'?: (_envoy_data_accesslog_v3_AccessLogCommon | null);
  'request'?: (_envoy_data_accesslog_v3_HTTPRequestProperties | null);
  'response'?: (_envoy_data_accesslog_v3_HTTPResponseProperties | null);
}

export interface HTTPAccessLogEntry__Output {
  'commonProperties': (_envoy_data_accesslog_v3_AccessLogCommon__Output | null);
  'request': (_envoy_data_accesslog_v3_HTTPRequestProperties__Output | null);
  'response': (_envoy_data_accesslog_v3_HTTPResponseProperties__Output | null);
}
