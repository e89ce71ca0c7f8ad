// Original file: tollkeeper/keys/v1/keys.proto

import type { ReportedCall as _tollkeeper_keys_v1_ReportedCall, ReportedCall__Output as _tollkeeper_keys_v1_ReportedCall__Output } from '../../../tollkeeper/keys/v1/ReportedCall.ts';
import type { NoCall as _tollkeeper_keys_v1_NoCall, NoCall__Output as _tollkeeper_keys_v1_NoCall__Output } from '../../../tollkeeper/keys/v1/NoCall.ts';
import type { Long } from '@grpc/proto-loader';

export interface KeepReportRequest {
  /**
   * The workspace of the key that the report came with.
   */
  'tenantId'?: (string);
  'reportId'?: (string);
  'keyId'?: (string);
  /**
   * When it arrived, in epoch milliseconds.
   */
  'receivedMs'?: (number | string | Long);
  /**
   * The path that it was posted to, such as `/v1/traces`, or the path of its RPC.
   */
  'path'?: (string);
  /**
   * Number of spans, log entries or objects in it.
   */
  'records'?: (number);
  /**
   * Number of these that are calls.
   */
  'calls'?: (number);
  /**
   * The first of the calls, at most 2.
   */
  'firstCalls'?: (_tollkeeper_keys_v1_ReportedCall)[];
  /**
   * Why the other records are no calls, at most 10 reasons.
   */
  'notCalls'?: (_tollkeeper_keys_v1_NoCall)[];
  /**
   * Why nothing of the report was taken; empty if it was taken.
   */
  'refusal'?: (string);
}

export interface KeepReportRequest__Output {
  /**
   * The workspace of the key that the report came with.
   */
  'tenantId': (string);
  'reportId': (string);
  'keyId': (string);
  /**
   * When it arrived, in epoch milliseconds.
   */
  'receivedMs': (number);
  /**
   * The path that it was posted to, such as `/v1/traces`, or the path of its RPC.
   */
  'path': (string);
  /**
   * Number of spans, log entries or objects in it.
   */
  'records': (number);
  /**
   * Number of these that are calls.
   */
  'calls': (number);
  /**
   * The first of the calls, at most 2.
   */
  'firstCalls': (_tollkeeper_keys_v1_ReportedCall__Output)[];
  /**
   * Why the other records are no calls, at most 10 reasons.
   */
  'notCalls': (_tollkeeper_keys_v1_NoCall__Output)[];
  /**
   * Why nothing of the report was taken; empty if it was taken.
   */
  'refusal': (string);
}
