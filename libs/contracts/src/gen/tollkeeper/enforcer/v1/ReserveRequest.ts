// Original file: tollkeeper/enforcer/v1/enforcer.proto

import type { Long } from '@grpc/proto-loader';

export interface ReserveRequest {
  /**
   * Chosen by the gateway, once for each call: 1 to 128 characters of A-Z a-z 0-9 . _ : -. So are `agent_id` and
   * `run_id`.
   */
  'requestId'?: (string);
  'agentId'?: (string);
  'runId'?: (string);
  /**
   * The plan that the call is made under, if any.
   */
  'planKey'?: (string);
  /**
   * What the call may cost at most, in USD micros, 0 to 9007199254740991. Must be given.
   */
  'amountMicros'?: (number | string | Long);
  /**
   * How long it is held, 10 to 3600; 600 unless given. Longer than the call takes.
   */
  'ttlSeconds'?: (number);
  /**
   * Answers what would happen, and changes nothing.
   */
  'dryRun'?: (boolean);
  /**
   * The model and the provider that the call will use, if they are known. At most 128 bytes each.
   */
  'model'?: (string);
  'provider'?: (string);
  /**
   * What the call is for, such as `team: growth`: at most 10. A name is 1 to 32 characters of a-z 0-9 _ . - and starts
   * with a letter; a value is 1 to 128 printable characters. A label of the agent takes the place of one of that name.
   */
  'labels'?: ({[key: string]: string});
  '_planKey'?: "planKey";
  '_amountMicros'?: "amountMicros";
  '_ttlSeconds'?: "ttlSeconds";
  '_model'?: "model";
  '_provider'?: "provider";
}

export interface ReserveRequest__Output {
  /**
   * Chosen by the gateway, once for each call: 1 to 128 characters of A-Z a-z 0-9 . _ : -. So are `agent_id` and
   * `run_id`.
   */
  'requestId': (string);
  'agentId': (string);
  'runId': (string);
  /**
   * The plan that the call is made under, if any.
   */
  'planKey'?: (string);
  /**
   * What the call may cost at most, in USD micros, 0 to 9007199254740991. Must be given.
   */
  'amountMicros'?: (number);
  /**
   * How long it is held, 10 to 3600; 600 unless given. Longer than the call takes.
   */
  'ttlSeconds'?: (number);
  /**
   * Answers what would happen, and changes nothing.
   */
  'dryRun': (boolean);
  /**
   * The model and the provider that the call will use, if they are known. At most 128 bytes each.
   */
  'model'?: (string);
  'provider'?: (string);
  /**
   * What the call is for, such as `team: growth`: at most 10. A name is 1 to 32 characters of a-z 0-9 _ . - and starts
   * with a letter; a value is 1 to 128 printable characters. A label of the agent takes the place of one of that name.
   */
  'labels': ({[key: string]: string});
  '_planKey'?: "planKey";
  '_amountMicros'?: "amountMicros";
  '_ttlSeconds'?: "ttlSeconds";
  '_model'?: "model";
  '_provider'?: "provider";
}
