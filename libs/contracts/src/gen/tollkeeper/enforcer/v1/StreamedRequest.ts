// Original file: tollkeeper/enforcer/v1/enforcer.proto

import type { ReserveRequest as _tollkeeper_enforcer_v1_ReserveRequest, ReserveRequest__Output as _tollkeeper_enforcer_v1_ReserveRequest__Output } from '../../../tollkeeper/enforcer/v1/ReserveRequest.ts';
import type { SettleRequest as _tollkeeper_enforcer_v1_SettleRequest, SettleRequest__Output as _tollkeeper_enforcer_v1_SettleRequest__Output } from '../../../tollkeeper/enforcer/v1/SettleRequest.ts';
import type { ReleaseRequest as _tollkeeper_enforcer_v1_ReleaseRequest, ReleaseRequest__Output as _tollkeeper_enforcer_v1_ReleaseRequest__Output } from '../../../tollkeeper/enforcer/v1/ReleaseRequest.ts';

export interface StreamedRequest {
  /**
   * Chosen by the gateway, different from those of the requests in progress.
   */
  'tag'?: (number);
  'reserve'?: (_tollkeeper_enforcer_v1_ReserveRequest | null);
  'settle'?: (_tollkeeper_enforcer_v1_SettleRequest | null);
  'release'?: (_tollkeeper_enforcer_v1_ReleaseRequest | null);
  /**
   * Exactly one is set.
   */
  'request'?: "reserve"|"settle"|"release";
}

export interface StreamedRequest__Output {
  /**
   * Chosen by the gateway, different from those of the requests in progress.
   */
  'tag': (number);
  'reserve'?: (_tollkeeper_enforcer_v1_ReserveRequest__Output | null);
  'settle'?: (_tollkeeper_enforcer_v1_SettleRequest__Output | null);
  'release'?: (_tollkeeper_enforcer_v1_ReleaseRequest__Output | null);
  /**
   * Exactly one is set.
   */
  'request'?: "reserve"|"settle"|"release";
}
