// Original file: tollkeeper/enforcer/v1/enforcer.proto

import type { Long } from '@grpc/proto-loader';

export interface GrantLeaseRequest {
  /**
   * Chosen by the gateway, once for each lease: 1 to 128 characters of A-Z a-z 0-9 . _ : -. So are `agent_id` and
   * `run_id`. The ids of leases and of reservations may be the same.
   */
  'requestId'?: (string);
  'agentId'?: (string);
  /**
   * The plan of the calls, if any.
   */
  'planKey'?: (string);
  /**
   * What the gateway wishes for, in USD micros, 0 to 9007199254740991. Must be given.
   */
  'amountMicros'?: (number | string | Long);
  /**
   * What the call at hand may cost at most: a smaller lease would be of no use. At most `amount_micros`. Must be given.
   */
  'minMicros'?: (number | string | Long);
  /**
   * How long it lasts, 10 to 600; 60 unless given. It ends with its day at the latest.
   */
  'ttlSeconds'?: (number);
  /**
   * The run of the call at hand, for the report of a denial.
   */
  'runId'?: (string);
  /**
   * The model, the provider and the labels of all of its calls, as in ReserveRequest.
   */
  'model'?: (string);
  'provider'?: (string);
  'labels'?: ({[key: string]: string});
  '_planKey'?: "planKey";
  '_amountMicros'?: "amountMicros";
  '_minMicros'?: "minMicros";
  '_ttlSeconds'?: "ttlSeconds";
  '_runId'?: "runId";
  '_model'?: "model";
  '_provider'?: "provider";
}

export interface GrantLeaseRequest__Output {
  /**
   * Chosen by the gateway, once for each lease: 1 to 128 characters of A-Z a-z 0-9 . _ : -. So are `agent_id` and
   * `run_id`. The ids of leases and of reservations may be the same.
   */
  'requestId': (string);
  'agentId': (string);
  /**
   * The plan of the calls, if any.
   */
  'planKey'?: (string);
  /**
   * What the gateway wishes for, in USD micros, 0 to 9007199254740991. Must be given.
   */
  'amountMicros'?: (number);
  /**
   * What the call at hand may cost at most: a smaller lease would be of no use. At most `amount_micros`. Must be given.
   */
  'minMicros'?: (number);
  /**
   * How long it lasts, 10 to 600; 60 unless given. It ends with its day at the latest.
   */
  'ttlSeconds'?: (number);
  /**
   * The run of the call at hand, for the report of a denial.
   */
  'runId'?: (string);
  /**
   * The model, the provider and the labels of all of its calls, as in ReserveRequest.
   */
  'model'?: (string);
  'provider'?: (string);
  'labels': ({[key: string]: string});
  '_planKey'?: "planKey";
  '_amountMicros'?: "amountMicros";
  '_minMicros'?: "minMicros";
  '_ttlSeconds'?: "ttlSeconds";
  '_runId'?: "runId";
  '_model'?: "model";
  '_provider'?: "provider";
}
