// Original file: tollkeeper/enforcer/v1/enforcer.proto

import type { Long } from '@grpc/proto-loader';

export interface SettleRequest {
  'reservationId'?: (string);
  /**
   * Counts once in the workspace, whether it comes by this call or by a `spend.settled` event.
   */
  'settlementId'?: (string);
  /**
   * What the call has cost, in USD micros, 0 to 9007199254740991. Must be given, so that none is free by mistake.
   */
  'amountMicros'?: (number | string | Long);
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

export interface SettleRequest__Output {
  'reservationId': (string);
  /**
   * Counts once in the workspace, whether it comes by this call or by a `spend.settled` event.
   */
  'settlementId': (string);
  /**
   * What the call has cost, in USD micros, 0 to 9007199254740991. Must be given, so that none is free by mistake.
   */
  'amountMicros'?: (number);
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
