// Original file: envoy/config/core/v3/base.proto

import type { Struct as _google_protobuf_Struct, Struct__Output as _google_protobuf_Struct__Output } from '../../../../google/protobuf/Struct.ts';

export interface Metadata {
  /**
   * By the names of the filters, or of the namespaces that filters are set to write to.
   */
  'filterMetadata'?: ({[key: string]: _google_protobuf_Struct});
}

export interface Metadata__Output {
  /**
   * By the names of the filters, or of the namespaces that filters are set to write to.
   */
  'filterMetadata': ({[key: string]: _google_protobuf_Struct__Output});
}
