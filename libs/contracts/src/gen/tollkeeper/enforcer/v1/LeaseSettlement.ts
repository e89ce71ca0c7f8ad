// Original file: tollkeeper/enforcer/v1/enforcer.proto

import type { Timestamp as _google_protobuf_Timestamp, Timestamp__Output as _google_protobuf_Timestamp__Output } from '../../../google/protobuf/Timestamp.ts';
import type { Long } from '@grpc/proto-loader';

/**
 * What a call has cost.
 */
export interface LeaseSettlement {
  /**
   * Counts once in the workspace, whether it comes by a call or by a `spend.settled` event.
   */
  'settlementId'?: (string);
  'runId'?: (string);
  /**
   * In USD micros, 0 to 9007199254740991. Must be given, so that none is free by mistake.
   */
  'amountMicros'?: (number | string | Long);
  /**
   * When the call was made; now unless given. A time before the lease or after now is moved into it. The spend counts
   * in the day of the lease.
   */
  'occurredAt'?: (_google_protobuf_Timestamp | null);
  'model'?: (string);
  'provider'?: (string);
  'inputTokens'?: (number | string | Long);
  'outputTokens'?: (number | string | Long);
  '_amountMicros'?: "amountMicros";
  '_model'?: "model";
  '_provider'?: "provider";
  '_inputTokens'?: "inputTokens";
  '_outputTokens'?: "outputTokens";
}

/**
 * What a call has cost.
 */
export interface LeaseSettlement__Output {
  /**
   * Counts once in the workspace, whether it comes by a call or by a `spend.settled` event.
   */
  'settlementId': (string);
  'runId': (string);
  /**
   * In USD micros, 0 to 9007199254740991. Must be given, so that none is free by mistake.
   */
  'amountMicros'?: (number);
  /**
   * When the call was made; now unless given. A time before the lease or after now is moved into it. The spend counts
   * in the day of the lease.
   */
  'occurredAt': (_google_protobuf_Timestamp__Output | null);
  'model'?: (string);
  'provider'?: (string);
  'inputTokens'?: (number);
  'outputTokens'?: (number);
  '_amountMicros'?: "amountMicros";
  '_model'?: "model";
  '_provider'?: "provider";
  '_inputTokens'?: "inputTokens";
  '_outputTokens'?: "outputTokens";
}
