// Original file: tollkeeper/enforcer/v1/enforcer.proto

import type { StreamedAnswer as _tollkeeper_enforcer_v1_StreamedAnswer, StreamedAnswer__Output as _tollkeeper_enforcer_v1_StreamedAnswer__Output } from '../../../tollkeeper/enforcer/v1/StreamedAnswer.ts';

export interface ReserveStreamResponse {
  /**
   * Those that were decided at the same moment.
   */
  'answers'?: (_tollkeeper_enforcer_v1_StreamedAnswer)[];
}

export interface ReserveStreamResponse__Output {
  /**
   * Those that were decided at the same moment.
   */
  'answers': (_tollkeeper_enforcer_v1_StreamedAnswer__Output)[];
}
