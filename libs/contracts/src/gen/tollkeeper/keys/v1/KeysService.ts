// Original file: tollkeeper/keys/v1/keys.proto

import type * as grpc from '@grpc/grpc-js'
import type { MethodDefinition } from '@grpc/proto-loader'
import type { VerifyKeyRequest as _tollkeeper_keys_v1_VerifyKeyRequest, VerifyKeyRequest__Output as _tollkeeper_keys_v1_VerifyKeyRequest__Output } from '../../../tollkeeper/keys/v1/VerifyKeyRequest.ts';
import type { VerifyKeyResponse as _tollkeeper_keys_v1_VerifyKeyResponse, VerifyKeyResponse__Output as _tollkeeper_keys_v1_VerifyKeyResponse__Output } from '../../../tollkeeper/keys/v1/VerifyKeyResponse.ts';

/**
 * The check behind every call that is made with a workspace key.
 */
export interface KeysServiceClient extends grpc.Client {
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
  VerifyKey: MethodDefinition<_tollkeeper_keys_v1_VerifyKeyRequest, _tollkeeper_keys_v1_VerifyKeyResponse, _tollkeeper_keys_v1_VerifyKeyRequest__Output, _tollkeeper_keys_v1_VerifyKeyResponse__Output>
}
