// Original file: tollkeeper/dashboard/v1/dashboard.proto

import type { Long } from '@grpc/proto-loader';

/**
 * The settlement of a call, as its event reported it, or a correction of one.
 */
export interface Settlement {
  'settlementId'?: (string);
  /**
   * Event time in epoch milliseconds.
   */
  'time'?: (number | string | Long);
  'agentId'?: (string);
  'planKey'?: (string);
  'model'?: (string);
  'provider'?: (string);
  /**
   * Id of the workspace key that reported the call.
   */
  'keyId'?: (string);
  'labels'?: ({[key: string]: string});
  /**
   * In USD micros, 0 to 9007199254740991. That of a correction is what it adds, and may be negative.
   */
  'amountMicros'?: (number | string | Long);
  /**
   * The reservation or the lease that this settles, if there was one.
   */
  'reservationId'?: (string);
  /**
   * When the correction was made, in epoch milliseconds; absent in a settlement, which has one of a time at most.
   */
  'correctedAt'?: (number | string | Long);
  '_planKey'?: "planKey";
  '_model'?: "model";
  '_provider'?: "provider";
  '_keyId'?: "keyId";
  '_reservationId'?: "reservationId";
  '_correctedAt'?: "correctedAt";
}

/**
 * The settlement of a call, as its event reported it, or a correction of one.
 */
export interface Settlement__Output {
  'settlementId': (string);
  /**
   * Event time in epoch milliseconds.
   */
  'time': (number);
  'agentId': (string);
  'planKey'?: (string);
  'model'?: (string);
  'provider'?: (string);
  /**
   * Id of the workspace key that reported the call.
   */
  'keyId'?: (string);
  'labels': ({[key: string]: string});
  /**
   * In USD micros, 0 to 9007199254740991. That of a correction is what it adds, and may be negative.
   */
  'amountMicros': (number);
  /**
   * The reservation or the lease that this settles, if there was one.
   */
  'reservationId'?: (string);
  /**
   * When the correction was made, in epoch milliseconds; absent in a settlement, which has one of a time at most.
   */
  'correctedAt'?: (number);
  '_planKey'?: "planKey";
  '_model'?: "model";
  '_provider'?: "provider";
  '_keyId'?: "keyId";
  '_reservationId'?: "reservationId";
  '_correctedAt'?: "correctedAt";
}
