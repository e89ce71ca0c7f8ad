// Original file: tollkeeper/enforcer/v1/enforcer.proto

import type { LeaseState as _tollkeeper_enforcer_v1_LeaseState, LeaseState__Output as _tollkeeper_enforcer_v1_LeaseState__Output } from '../../../tollkeeper/enforcer/v1/LeaseState.ts';
import type { Timestamp as _google_protobuf_Timestamp, Timestamp__Output as _google_protobuf_Timestamp__Output } from '../../../google/protobuf/Timestamp.ts';
import type { Long } from '@grpc/proto-loader';

export interface Lease {
  'id'?: (string);
  'requestId'?: (string);
  'agentId'?: (string);
  'planKey'?: (string);
  /**
   * What it was granted in all, in USD micros.
   */
  'amountMicros'?: (number | string | Long);
  /**
   * What was settled from it while it was open, also beyond its amount.
   */
  'settledMicros'?: (number | string | Long);
  /**
   * What it still holds: 0 once it has ended.
   */
  'leftMicros'?: (number | string | Long);
  'state'?: (_tollkeeper_enforcer_v1_LeaseState);
  'createdAt'?: (_google_protobuf_Timestamp | null);
  'expiresAt'?: (_google_protobuf_Timestamp | null);
  /**
   * The milliseconds until it ends, as of this answer, for callers without the same clock. 0 once it has ended.
   */
  'expiresInMs'?: (number | string | Long);
  /**
   * As they were asked for.
   */
  'model'?: (string);
  'provider'?: (string);
  /**
   * Those of the workspace key and the agent at that time, and of the request.
   */
  'labels'?: ({[key: string]: string});
  '_planKey'?: "planKey";
  '_model'?: "model";
  '_provider'?: "provider";
}

export interface Lease__Output {
  'id': (string);
  'requestId': (string);
  'agentId': (string);
  'planKey'?: (string);
  /**
   * What it was granted in all, in USD micros.
   */
  'amountMicros': (number);
  /**
   * What was settled from it while it was open, also beyond its amount.
   */
  'settledMicros': (number);
  /**
   * What it still holds: 0 once it has ended.
   */
  'leftMicros': (number);
  'state': (_tollkeeper_enforcer_v1_LeaseState__Output);
  'createdAt': (_google_protobuf_Timestamp__Output | null);
  'expiresAt': (_google_protobuf_Timestamp__Output | null);
  /**
   * The milliseconds until it ends, as of this answer, for callers without the same clock. 0 once it has ended.
   */
  'expiresInMs': (number);
  /**
   * As they were asked for.
   */
  'model'?: (string);
  'provider'?: (string);
  /**
   * Those of the workspace key and the agent at that time, and of the request.
   */
  'labels': ({[key: string]: string});
  '_planKey'?: "planKey";
  '_model'?: "model";
  '_provider'?: "provider";
}
