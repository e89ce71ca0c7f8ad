// Original file: tollkeeper/enforcer/v1/enforcer.proto

import type { Long } from '@grpc/proto-loader';

export interface RenewLeaseRequest {
  'leaseId'?: (string);
  /**
   * Chosen by the gateway, once for each renewal of the lease.
   */
  'requestId'?: (string);
  /**
   * What the gateway wishes for in all, with what is used already. Must be given.
   */
  'amountMicros'?: (number | string | Long);
  /**
   * How long it lasts from now on, 10 to 600; 60 unless given.
   */
  'ttlSeconds'?: (number);
  '_amountMicros'?: "amountMicros";
  '_ttlSeconds'?: "ttlSeconds";
}

export interface RenewLeaseRequest__Output {
  'leaseId': (string);
  /**
   * Chosen by the gateway, once for each renewal of the lease.
   */
  'requestId': (string);
  /**
   * What the gateway wishes for in all, with what is used already. Must be given.
   */
  'amountMicros'?: (number);
  /**
   * How long it lasts from now on, 10 to 600; 60 unless given.
   */
  'ttlSeconds'?: (number);
  '_amountMicros'?: "amountMicros";
  '_ttlSeconds'?: "ttlSeconds";
}
