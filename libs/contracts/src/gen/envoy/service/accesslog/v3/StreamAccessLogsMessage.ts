// Original file: envoy/service/accesslog/v3/als.proto

import type { HTTPAccessLogEntry as _envoy_data_accesslog_v3_HTTPAccessLogEntry, HTTPAccessLogEntry__Output as _envoy_data_accesslog_v3_HTTPAccessLogEntry__Output } from '../../../../envoy/data/accesslog/v3/HTTPAccessLogEntry.ts';

export interface _envoy_service_accesslog_v3_StreamAccessLogsMessage_HTTPAccessLogEntries {
  'logEntry'?: (_envoy_data_accesslog_v3_HTTPAccessLogEntry)[];
}

export interface _envoy_service_accesslog_v3_StreamAccessLogsMessage_HTTPAccessLogEntries__Output {
  'logEntry': (_envoy_data_accesslog_v3_HTTPAccessLogEntry__Output)[];
}

export interface _envoy_service_accesslog_v3_StreamAccessLogsMessage_Identifier {
  'logName'?: (string);
}

export interface _envoy_service_accesslog_v3_StreamAccessLogsMessage_Identifier__Output {
  'logName': (string);
}

export interface StreamAccessLogsMessage {
  /**
   * Only in the first message of a stream.
   */
  'identifier'?: (_envoy_service_accesslog_v3_StreamAccessLogsMessage_Identifier | null);
  'httpLogs'?: (_envoy_service_accesslog_v3_StreamAccessLogsMessage_HTTPAccessLogEntries | null);
}

export interface StreamAccessLogsMessage__Output {
  /**
   * Only in the first message of a stream.
   */
  'identifier': (_envoy_service_accesslog_v3_StreamAccessLogsMessage_Identifier__Output | null);
  'httpLogs': (_envoy_service_accesslog_v3_StreamAccessLogsMessage_HTTPAccessLogEntries__Output | null);
}
