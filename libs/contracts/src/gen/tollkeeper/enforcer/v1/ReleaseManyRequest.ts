// Original file: tollkeeper/enforcer/v1/enforcer.proto

import type { ReleaseRequest as _tollkeeper_enforcer_v1_ReleaseRequest, ReleaseRequest__Output as _tollkeeper_enforcer_v1_ReleaseRequest__Output } from '../../../tollkeeper/enforcer/v1/ReleaseRequest.ts';

export interface ReleaseManyRequest {
  'requests'?: (_tollkeeper_enforcer_v1_ReleaseRequest)[];
}

export interface ReleaseManyRequest__Output {
  'requests': (_tollkeeper_enforcer_v1_ReleaseRequest__Output)[];
}
