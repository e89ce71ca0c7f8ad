// Original file: envoy/data/accesslog/v3/accesslog.proto

import type { UInt32Value as _google_protobuf_UInt32Value, UInt32Value__Output as _google_protobuf_UInt32Value__Output } from '../../../../google/protobuf/UInt32Value.ts';

export interface HTTPResponseProperties {
  /**
   * Not set if there was no response.
   */
  'responseCode'?: (_google_protobuf_UInt32Value | null);
}

export interface HTTPResponseProperties__Output {
  /**
   * Not set if there was no response.
   */
  'responseCode': (_google_protobuf_UInt32Value__Output | null);
}
