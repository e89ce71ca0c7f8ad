// Original file: tollkeeper/enforcer/v1/enforcer.proto

import type { StreamedRequest as _tollkeeper_enforcer_v1_StreamedRequest, StreamedRequest__Output as _tollkeeper_enforcer_v1_StreamedRequest__Output } from '../../../tollkeeper/enforcer/v1/StreamedRequest.ts';

export interface ReserveStreamRequest {
  /**
   * 1 to 50 requests.
   */
  'requests'?: (_tollkeeper_enforcer_v1_StreamedRequest)[];
}

export interface ReserveStreamRequest__Output {
  /**
   * 1 to 50 requests.
   */
  'requests': (_tollkeeper_enforcer_v1_StreamedRequest__Output)[];
}
