// Original file: tollkeeper/notifier/v1/notifier.proto

import type * as grpc from '@grpc/grpc-js'
import type { MethodDefinition } from '@grpc/proto-loader'
import type { FindChannelsRequest as _tollkeeper_notifier_v1_FindChannelsRequest, FindChannelsRequest__Output as _tollkeeper_notifier_v1_FindChannelsRequest__Output } from '../../../tollkeeper/notifier/v1/FindChannelsRequest.ts';
import type { FindChannelsResponse as _tollkeeper_notifier_v1_FindChannelsResponse, FindChannelsResponse__Output as _tollkeeper_notifier_v1_FindChannelsResponse__Output } from '../../../tollkeeper/notifier/v1/FindChannelsResponse.ts';

/**
 * What other services may know of channels: never where they lead.
 */
export interface NotifierServiceClient extends grpc.Client {
  /**
   * Answers those of the channels that the workspace has, as of now, in no particular order. Ids that it does not have
   * are left out, so a caller that asks for one id learns whether it exists. Without ids, all channels of the
   * workspace. At most 1000 ids. INVALID_ARGUMENT names a field that is malformed; UNAVAILABLE means that a retry makes
   * sense. Safe to repeat.
   * 
   * A later change or deletion is reported in the log, on the topic `alerts.deliveries`.
   */
  FindChannels(argument: _tollkeeper_notifier_v1_FindChannelsRequest, metadata: grpc.Metadata, options: grpc.CallOptions, callback: grpc.requestCallback<_tollkeeper_notifier_v1_FindChannelsResponse__Output>): grpc.ClientUnaryCall;
  FindChannels(argument: _tollkeeper_notifier_v1_FindChannelsRequest, metadata: grpc.Metadata, callback: grpc.requestCallback<_tollkeeper_notifier_v1_FindChannelsResponse__Output>): grpc.ClientUnaryCall;
  FindChannels(argument: _tollkeeper_notifier_v1_FindChannelsRequest, options: grpc.CallOptions, callback: grpc.requestCallback<_tollkeeper_notifier_v1_FindChannelsResponse__Output>): grpc.ClientUnaryCall;
  FindChannels(argument: _tollkeeper_notifier_v1_FindChannelsRequest, callback: grpc.requestCallback<_tollkeeper_notifier_v1_FindChannelsResponse__Output>): grpc.ClientUnaryCall;
  /**
   * Answers those of the channels that the workspace has, as of now, in no particular order. Ids that it does not have
   * are left out, so a caller that asks for one id learns whether it exists. Without ids, all channels of the
   * workspace. At most 1000 ids. INVALID_ARGUMENT names a field that is malformed; UNAVAILABLE means that a retry makes
   * sense. Safe to repeat.
   * 
   * A later change or deletion is reported in the log, on the topic `alerts.deliveries`.
   */
  findChannels(argument: _tollkeeper_notifier_v1_FindChannelsRequest, metadata: grpc.Metadata, options: grpc.CallOptions, callback: grpc.requestCallback<_tollkeeper_notifier_v1_FindChannelsResponse__Output>): grpc.ClientUnaryCall;
  findChannels(argument: _tollkeeper_notifier_v1_FindChannelsRequest, metadata: grpc.Metadata, callback: grpc.requestCallback<_tollkeeper_notifier_v1_FindChannelsResponse__Output>): grpc.ClientUnaryCall;
  findChannels(argument: _tollkeeper_notifier_v1_FindChannelsRequest, options: grpc.CallOptions, callback: grpc.requestCallback<_tollkeeper_notifier_v1_FindChannelsResponse__Output>): grpc.ClientUnaryCall;
  findChannels(argument: _tollkeeper_notifier_v1_FindChannelsRequest, callback: grpc.requestCallback<_tollkeeper_notifier_v1_FindChannelsResponse__Output>): grpc.ClientUnaryCall;
  
}

/**
 * What other services may know of channels: never where they lead.
 */
export interface NotifierServiceHandlers extends grpc.UntypedServiceImplementation {
  /**
   * Answers those of the channels that the workspace has, as of now, in no particular order. Ids that it does not have
   * are left out, so a caller that asks for one id learns whether it exists. Without ids, all channels of the
   * workspace. At most 1000 ids. INVALID_ARGUMENT names a field that is malformed; UNAVAILABLE means that a retry makes
   * sense. Safe to repeat.
   * 
   * A later change or deletion is reported in the log, on the topic `alerts.deliveries`.
   */
  FindChannels: grpc.handleUnaryCall<_tollkeeper_notifier_v1_FindChannelsRequest__Output, _tollkeeper_notifier_v1_FindChannelsResponse>;
  
}

export interface NotifierServiceDefinition extends grpc.ServiceDefinition {
  FindChannels: MethodDefinition<_tollkeeper_notifier_v1_FindChannelsRequest, _tollkeeper_notifier_v1_FindChannelsResponse, _tollkeeper_notifier_v1_FindChannelsRequest__Output, _tollkeeper_notifier_v1_FindChannelsResponse__Output>
}
