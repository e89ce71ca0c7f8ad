// Original file: tollkeeper/enforcer/v1/enforcer.proto

import type { ReservationState as _tollkeeper_enforcer_v1_ReservationState, ReservationState__Output as _tollkeeper_enforcer_v1_ReservationState__Output } from '../../../tollkeeper/enforcer/v1/ReservationState.ts';
import type { Timestamp as _google_protobuf_Timestamp, Timestamp__Output as _google_protobuf_Timestamp__Output } from '../../../google/protobuf/Timestamp.ts';
import type { Long } from '@grpc/proto-loader';

export interface Reservation {
  'id'?: (string);
  'requestId'?: (string);
  'agentId'?: (string);
  'runId'?: (string);
  'planKey'?: (string);
  /**
   * What was asked for, in USD micros.
   */
  'amountMicros'?: (number | string | Long);
  'state'?: (_tollkeeper_enforcer_v1_ReservationState);
  'createdAt'?: (_google_protobuf_Timestamp | null);
  'expiresAt'?: (_google_protobuf_Timestamp | null);
  /**
   * What the call has cost, in USD micros; set once it is settled, as is `settlement_id`.
   */
  'settledMicros'?: (number | string | Long);
  'settlementId'?: (string);
  /**
   * As they were asked for.
   */
  'model'?: (string);
  'provider'?: (string);
  /**
   * Those of the workspace key and the agent at that time, and of the call.
   */
  'labels'?: ({[key: string]: string});
  '_planKey'?: "planKey";
  '_settledMicros'?: "settledMicros";
  '_settlementId'?: "settlementId";
  '_model'?: "model";
  '_provider'?: "provider";
}

export interface Reservation__Output {
  'id': (string);
  'requestId': (string);
  'agentId': (string);
  'runId': (string);
  'planKey'?: (string);
  /**
   * What was asked for, in USD micros.
   */
  'amountMicros': (number);
  'state': (_tollkeeper_enforcer_v1_ReservationState__Output);
  'createdAt': (_google_protobuf_Timestamp__Output | null);
  'expiresAt': (_google_protobuf_Timestamp__Output | null);
  /**
   * What the call has cost, in USD micros; set once it is settled, as is `settlement_id`.
   */
  'settledMicros'?: (number);
  'settlementId'?: (string);
  /**
   * As they were asked for.
   */
  'model'?: (string);
  'provider'?: (string);
  /**
   * Those of the workspace key and the agent at that time, and of the call.
   */
  'labels': ({[key: string]: string});
  '_planKey'?: "planKey";
  '_settledMicros'?: "settledMicros";
  '_settlementId'?: "settlementId";
  '_model'?: "model";
  '_provider'?: "provider";
}
