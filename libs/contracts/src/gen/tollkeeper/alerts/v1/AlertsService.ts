// Original file: tollkeeper/alerts/v1/alerts.proto

import type * as grpc from '@grpc/grpc-js'
import type { MethodDefinition } from '@grpc/proto-loader'
import type { GetChannelRequest as _tollkeeper_alerts_v1_GetChannelRequest, GetChannelRequest__Output as _tollkeeper_alerts_v1_GetChannelRequest__Output } from '../../../tollkeeper/alerts/v1/GetChannelRequest.ts';
import type { GetChannelResponse as _tollkeeper_alerts_v1_GetChannelResponse, GetChannelResponse__Output as _tollkeeper_alerts_v1_GetChannelResponse__Output } from '../../../tollkeeper/alerts/v1/GetChannelResponse.ts';

/**
 * Where notifications go.
 */
export interface AlertsServiceClient extends grpc.Client {
  /**
   * Answers a channel with its secrets, as of now, for an attempt to deliver something to it. NOT_FOUND when the
   * workspace has no such channel, also when it was deleted. INVALID_ARGUMENT names a field that is malformed;
   * UNAVAILABLE means that a retry makes sense.
   * 
   * Safe to repeat. Callers may keep an answer for at most a second, so that an edit, a disabling or a deletion
   * takes hold within that time, and never write the secrets anywhere.
   */
  GetChannel(argument: _tollkeeper_alerts_v1_GetChannelRequest, metadata: grpc.Metadata, options: grpc.CallOptions, callback: grpc.requestCallback<_tollkeeper_alerts_v1_GetChannelResponse__Output>): grpc.ClientUnaryCall;
  GetChannel(argument: _tollkeeper_alerts_v1_GetChannelRequest, metadata: grpc.Metadata, callback: grpc.requestCallback<_tollkeeper_alerts_v1_GetChannelResponse__Output>): grpc.ClientUnaryCall;
  GetChannel(argument: _tollkeeper_alerts_v1_GetChannelRequest, options: grpc.CallOptions, callback: grpc.requestCallback<_tollkeeper_alerts_v1_GetChannelResponse__Output>): grpc.ClientUnaryCall;
  GetChannel(argument: _tollkeeper_alerts_v1_GetChannelRequest, callback: grpc.requestCallback<_tollkeeper_alerts_v1_GetChannelResponse__Output>): grpc.ClientUnaryCall;
  
}

/**
 * Where notifications go.
 */
export interface AlertsServiceHandlers extends grpc.UntypedServiceImplementation {
  /**
   * Answers a channel with its secrets, as of now, for an attempt to deliver something to it. NOT_FOUND when the
   * workspace has no such channel, also when it was deleted. INVALID_ARGUMENT names a field that is malformed;
   * UNAVAILABLE means that a retry makes sense.
   * 
   * Safe to repeat. Callers may keep an answer for at most a second, so that an edit, a disabling or a deletion
   * takes hold within that time, and never write the secrets anywhere.
   */
  GetChannel: grpc.handleUnaryCall<_tollkeeper_alerts_v1_GetChannelRequest__Output, _tollkeeper_alerts_v1_GetChannelResponse>;
  
}

export interface AlertsServiceDefinition extends grpc.ServiceDefinition {
  GetChannel: MethodDefinition<_tollkeeper_alerts_v1_GetChannelRequest, _tollkeeper_alerts_v1_GetChannelResponse, _tollkeeper_alerts_v1_GetChannelRequest__Output, _tollkeeper_alerts_v1_GetChannelResponse__Output>
}
