// Original file: tollkeeper/notifier/v1/notifier.proto

import type * as grpc from '@grpc/grpc-js'
import type { MethodDefinition } from '@grpc/proto-loader'
import type { SendTestRequest as _tollkeeper_notifier_v1_SendTestRequest, SendTestRequest__Output as _tollkeeper_notifier_v1_SendTestRequest__Output } from '../../../tollkeeper/notifier/v1/SendTestRequest.ts';
import type { SendTestResponse as _tollkeeper_notifier_v1_SendTestResponse, SendTestResponse__Output as _tollkeeper_notifier_v1_SendTestResponse__Output } from '../../../tollkeeper/notifier/v1/SendTestResponse.ts';

/**
 * What people can ask of delivery beside the log.
 */
export interface NotifierServiceClient extends grpc.Client {
  /**
   * Sends a `channel.test` notification to the channel, now and once, and answers what the destination said, whatever
   * its status; a disabled channel can be tested too. It takes up to 15 seconds: give it a deadline of 20.
   * 
   * NOT_FOUND when the workspace has no such channel. The error codes `destination_unreachable` (no answer: name,
   * connection, TLS or time) and `destination_blocked` (an address that deliveries must not go to) have a sentence for
   * the person who tests. RESOURCE_EXHAUSTED while too many tests of the workspace are under way. A repeated call
   * sends another test.
   */
  SendTest(argument: _tollkeeper_notifier_v1_SendTestRequest, metadata: grpc.Metadata, options: grpc.CallOptions, callback: grpc.requestCallback<_tollkeeper_notifier_v1_SendTestResponse__Output>): grpc.ClientUnaryCall;
  SendTest(argument: _tollkeeper_notifier_v1_SendTestRequest, metadata: grpc.Metadata, callback: grpc.requestCallback<_tollkeeper_notifier_v1_SendTestResponse__Output>): grpc.ClientUnaryCall;
  SendTest(argument: _tollkeeper_notifier_v1_SendTestRequest, options: grpc.CallOptions, callback: grpc.requestCallback<_tollkeeper_notifier_v1_SendTestResponse__Output>): grpc.ClientUnaryCall;
  SendTest(argument: _tollkeeper_notifier_v1_SendTestRequest, callback: grpc.requestCallback<_tollkeeper_notifier_v1_SendTestResponse__Output>): grpc.ClientUnaryCall;
  /**
   * Sends a `channel.test` notification to the channel, now and once, and answers what the destination said, whatever
   * its status; a disabled channel can be tested too. It takes up to 15 seconds: give it a deadline of 20.
   * 
   * NOT_FOUND when the workspace has no such channel. The error codes `destination_unreachable` (no answer: name,
   * connection, TLS or time) and `destination_blocked` (an address that deliveries must not go to) have a sentence for
   * the person who tests. RESOURCE_EXHAUSTED while too many tests of the workspace are under way. A repeated call
   * sends another test.
   */
  sendTest(argument: _tollkeeper_notifier_v1_SendTestRequest, metadata: grpc.Metadata, options: grpc.CallOptions, callback: grpc.requestCallback<_tollkeeper_notifier_v1_SendTestResponse__Output>): grpc.ClientUnaryCall;
  sendTest(argument: _tollkeeper_notifier_v1_SendTestRequest, metadata: grpc.Metadata, callback: grpc.requestCallback<_tollkeeper_notifier_v1_SendTestResponse__Output>): grpc.ClientUnaryCall;
  sendTest(argument: _tollkeeper_notifier_v1_SendTestRequest, options: grpc.CallOptions, callback: grpc.requestCallback<_tollkeeper_notifier_v1_SendTestResponse__Output>): grpc.ClientUnaryCall;
  sendTest(argument: _tollkeeper_notifier_v1_SendTestRequest, callback: grpc.requestCallback<_tollkeeper_notifier_v1_SendTestResponse__Output>): grpc.ClientUnaryCall;
  
}

/**
 * What people can ask of delivery beside the log.
 */
export interface NotifierServiceHandlers extends grpc.UntypedServiceImplementation {
  /**
   * Sends a `channel.test` notification to the channel, now and once, and answers what the destination said, whatever
   * its status; a disabled channel can be tested too. It takes up to 15 seconds: give it a deadline of 20.
   * 
   * NOT_FOUND when the workspace has no such channel. The error codes `destination_unreachable` (no answer: name,
   * connection, TLS or time) and `destination_blocked` (an address that deliveries must not go to) have a sentence for
   * the person who tests. RESOURCE_EXHAUSTED while too many tests of the workspace are under way. A repeated call
   * sends another test.
   */
  SendTest: grpc.handleUnaryCall<_tollkeeper_notifier_v1_SendTestRequest__Output, _tollkeeper_notifier_v1_SendTestResponse>;
  
}

export interface NotifierServiceDefinition extends grpc.ServiceDefinition {
  SendTest: MethodDefinition<_tollkeeper_notifier_v1_SendTestRequest, _tollkeeper_notifier_v1_SendTestResponse, _tollkeeper_notifier_v1_SendTestRequest__Output, _tollkeeper_notifier_v1_SendTestResponse__Output>
}
