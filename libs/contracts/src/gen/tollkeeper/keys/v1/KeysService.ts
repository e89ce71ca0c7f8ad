// Original file: tollkeeper/keys/v1/keys.proto

import type * as grpc from '@grpc/grpc-js'
import type { MethodDefinition } from '@grpc/proto-loader'
import type { KeepReportRequest as _tollkeeper_keys_v1_KeepReportRequest, KeepReportRequest__Output as _tollkeeper_keys_v1_KeepReportRequest__Output } from '../../../tollkeeper/keys/v1/KeepReportRequest.ts';
import type { KeepReportResponse as _tollkeeper_keys_v1_KeepReportResponse, KeepReportResponse__Output as _tollkeeper_keys_v1_KeepReportResponse__Output } from '../../../tollkeeper/keys/v1/KeepReportResponse.ts';
import type { VerifyKeyRequest as _tollkeeper_keys_v1_VerifyKeyRequest, VerifyKeyRequest__Output as _tollkeeper_keys_v1_VerifyKeyRequest__Output } from '../../../tollkeeper/keys/v1/VerifyKeyRequest.ts';
import type { VerifyKeyResponse as _tollkeeper_keys_v1_VerifyKeyResponse, VerifyKeyResponse__Output as _tollkeeper_keys_v1_VerifyKeyResponse__Output } from '../../../tollkeeper/keys/v1/VerifyKeyResponse.ts';

/**
 * The check behind every call that is made with a workspace key.
 */
export interface KeysServiceClient extends grpc.Client {
  /**
   * Keeps what ingest or the enforcer understood of one report, so that people who connect a gateway see it: the last
   * 20 of a workspace, for about a minute after somebody looked. Drops it if nobody has looked within the last minute.
   * 
   * Safe to repeat: a report is known by its id. Nothing depends on it, so callers need not wait for the answer.
   */
  KeepReport(argument: _tollkeeper_keys_v1_KeepReportRequest, metadata: grpc.Metadata, options: grpc.CallOptions, callback: grpc.requestCallback<_tollkeeper_keys_v1_KeepReportResponse__Output>): grpc.ClientUnaryCall;
  KeepReport(argument: _tollkeeper_keys_v1_KeepReportRequest, metadata: grpc.Metadata, callback: grpc.requestCallback<_tollkeeper_keys_v1_KeepReportResponse__Output>): grpc.ClientUnaryCall;
  KeepReport(argument: _tollkeeper_keys_v1_KeepReportRequest, options: grpc.CallOptions, callback: grpc.requestCallback<_tollkeeper_keys_v1_KeepReportResponse__Output>): grpc.ClientUnaryCall;
  KeepReport(argument: _tollkeeper_keys_v1_KeepReportRequest, callback: grpc.requestCallback<_tollkeeper_keys_v1_KeepReportResponse__Output>): grpc.ClientUnaryCall;
  /**
   * Keeps what ingest or the enforcer understood of one report, so that people who connect a gateway see it: the last
   * 20 of a workspace, for about a minute after somebody looked. Drops it if nobody has looked within the last minute.
   * 
   * Safe to repeat: a report is known by its id. Nothing depends on it, so callers need not wait for the answer.
   */
  keepReport(argument: _tollkeeper_keys_v1_KeepReportRequest, metadata: grpc.Metadata, options: grpc.CallOptions, callback: grpc.requestCallback<_tollkeeper_keys_v1_KeepReportResponse__Output>): grpc.ClientUnaryCall;
  keepReport(argument: _tollkeeper_keys_v1_KeepReportRequest, metadata: grpc.Metadata, callback: grpc.requestCallback<_tollkeeper_keys_v1_KeepReportResponse__Output>): grpc.ClientUnaryCall;
  keepReport(argument: _tollkeeper_keys_v1_KeepReportRequest, options: grpc.CallOptions, callback: grpc.requestCallback<_tollkeeper_keys_v1_KeepReportResponse__Output>): grpc.ClientUnaryCall;
  keepReport(argument: _tollkeeper_keys_v1_KeepReportRequest, callback: grpc.requestCallback<_tollkeeper_keys_v1_KeepReportResponse__Output>): grpc.ClientUnaryCall;
  
  /**
   * Answers which workspace and role a workspace key stands for. NOT_FOUND when there is no such key, when the
   * secret is wrong and when the key is revoked, so that none of these can be told apart. INVALID_ARGUMENT names a
   * field that is malformed; UNAVAILABLE means that a retry makes sense.
   * 
   * Safe to repeat. Verifying counts as use: `last_used_at` of the key follows within a minute. Callers may keep
   * an answer for at most 5 seconds, so that a revoked key stops working everywhere within that time.
   */
  VerifyKey(argument: _tollkeeper_keys_v1_VerifyKeyRequest, metadata: grpc.Metadata, options: grpc.CallOptions, callback: grpc.requestCallback<_tollkeeper_keys_v1_VerifyKeyResponse__Output>): grpc.ClientUnaryCall;
  VerifyKey(argument: _tollkeeper_keys_v1_VerifyKeyRequest, metadata: grpc.Metadata, callback: grpc.requestCallback<_tollkeeper_keys_v1_VerifyKeyResponse__Output>): grpc.ClientUnaryCall;
  VerifyKey(argument: _tollkeeper_keys_v1_VerifyKeyRequest, options: grpc.CallOptions, callback: grpc.requestCallback<_tollkeeper_keys_v1_VerifyKeyResponse__Output>): grpc.ClientUnaryCall;
  VerifyKey(argument: _tollkeeper_keys_v1_VerifyKeyRequest, callback: grpc.requestCallback<_tollkeeper_keys_v1_VerifyKeyResponse__Output>): grpc.ClientUnaryCall;
  /**
   * Answers which workspace and role a workspace key stands for. NOT_FOUND when there is no such key, when the
   * secret is wrong and when the key is revoked, so that none of these can be told apart. INVALID_ARGUMENT names a
   * field that is malformed; UNAVAILABLE means that a retry makes sense.
   * 
   * Safe to repeat. Verifying counts as use: `last_used_at` of the key follows within a minute. Callers may keep
   * an answer for at most 5 seconds, so that a revoked key stops working everywhere within that time.
   */
  verifyKey(argument: _tollkeeper_keys_v1_VerifyKeyRequest, metadata: grpc.Metadata, options: grpc.CallOptions, callback: grpc.requestCallback<_tollkeeper_keys_v1_VerifyKeyResponse__Output>): grpc.ClientUnaryCall;
  verifyKey(argument: _tollkeeper_keys_v1_VerifyKeyRequest, metadata: grpc.Metadata, callback: grpc.requestCallback<_tollkeeper_keys_v1_VerifyKeyResponse__Output>): grpc.ClientUnaryCall;
  verifyKey(argument: _tollkeeper_keys_v1_VerifyKeyRequest, options: grpc.CallOptions, callback: grpc.requestCallback<_tollkeeper_keys_v1_VerifyKeyResponse__Output>): grpc.ClientUnaryCall;
  verifyKey(argument: _tollkeeper_keys_v1_VerifyKeyRequest, callback: grpc.requestCallback<_tollkeeper_keys_v1_VerifyKeyResponse__Output>): grpc.ClientUnaryCall;
  
}

/**
 * The check behind every call that is made with a workspace key.
 */
export interface KeysServiceHandlers extends grpc.UntypedServiceImplementation {
  /**
   * Keeps what ingest or the enforcer understood of one report, so that people who connect a gateway see it: the last
   * 20 of a workspace, for about a minute after somebody looked. Drops it if nobody has looked within the last minute.
   * 
   * Safe to repeat: a report is known by its id. Nothing depends on it, so callers need not wait for the answer.
   */
  KeepReport: grpc.handleUnaryCall<_tollkeeper_keys_v1_KeepReportRequest__Output, _tollkeeper_keys_v1_KeepReportResponse>;
  
  /**
   * Answers which workspace and role a workspace key stands for. NOT_FOUND when there is no such key, when the
   * secret is wrong and when the key is revoked, so that none of these can be told apart. INVALID_ARGUMENT names a
   * field that is malformed; UNAVAILABLE means that a retry makes sense.
   * 
   * Safe to repeat. Verifying counts as use: `last_used_at` of the key follows within a minute. Callers may keep
   * an answer for at most 5 seconds, so that a revoked key stops working everywhere within that time.
   */
  VerifyKey: grpc.handleUnaryCall<_tollkeeper_keys_v1_VerifyKeyRequest__Output, _tollkeeper_keys_v1_VerifyKeyResponse>;
  
}

export interface KeysServiceDefinition extends grpc.ServiceDefinition {
  KeepReport: MethodDefinition<_tollkeeper_keys_v1_KeepReportRequest, _tollkeeper_keys_v1_KeepReportResponse, _tollkeeper_keys_v1_KeepReportRequest__Output, _tollkeeper_keys_v1_KeepReportResponse__Output>
  VerifyKey: MethodDefinition<_tollkeeper_keys_v1_VerifyKeyRequest, _tollkeeper_keys_v1_VerifyKeyResponse, _tollkeeper_keys_v1_VerifyKeyRequest__Output, _tollkeeper_keys_v1_VerifyKeyResponse__Output>
}
