// Original file: tollkeeper/dashboard/v1/dashboard.proto

import type * as grpc from '@grpc/grpc-js'
import type { MethodDefinition } from '@grpc/proto-loader'
import type { ListSettlementsRequest as _tollkeeper_dashboard_v1_ListSettlementsRequest, ListSettlementsRequest__Output as _tollkeeper_dashboard_v1_ListSettlementsRequest__Output } from '../../../tollkeeper/dashboard/v1/ListSettlementsRequest.ts';
import type { ListSettlementsResponse as _tollkeeper_dashboard_v1_ListSettlementsResponse, ListSettlementsResponse__Output as _tollkeeper_dashboard_v1_ListSettlementsResponse__Output } from '../../../tollkeeper/dashboard/v1/ListSettlementsResponse.ts';

/**
 * The read side of stored events, for services that count them again.
 */
export interface DashboardServiceClient extends grpc.Client {
  /**
   * Answers the settlements whose event time is in `[from, until)`, page by page. Over all pages, each settlement that
   * the log had before the first page was asked for comes exactly once, whichever replicas answer and however long the
   * caller waits between pages. One that is reported later may come or not, but never twice. Events are kept for at
   * least 100 days after their time; older settlements are missing.
   * 
   * The first page waits for up to 5 seconds until the events of the workspace in the log are stored, and is
   * UNAVAILABLE if they are not. INVALID_ARGUMENT names a field that is malformed. RESOURCE_EXHAUSTED means that other
   * pages of the workspace take long. After UNAVAILABLE and RESOURCE_EXHAUSTED, a retry makes sense.
   * 
   * Safe to repeat: the same cursor answers at least the settlements that it answered before and that were in the log
   * before the first page.
   */
  ListSettlements(argument: _tollkeeper_dashboard_v1_ListSettlementsRequest, metadata: grpc.Metadata, options: grpc.CallOptions, callback: grpc.requestCallback<_tollkeeper_dashboard_v1_ListSettlementsResponse__Output>): grpc.ClientUnaryCall;
  ListSettlements(argument: _tollkeeper_dashboard_v1_ListSettlementsRequest, metadata: grpc.Metadata, callback: grpc.requestCallback<_tollkeeper_dashboard_v1_ListSettlementsResponse__Output>): grpc.ClientUnaryCall;
  ListSettlements(argument: _tollkeeper_dashboard_v1_ListSettlementsRequest, options: grpc.CallOptions, callback: grpc.requestCallback<_tollkeeper_dashboard_v1_ListSettlementsResponse__Output>): grpc.ClientUnaryCall;
  ListSettlements(argument: _tollkeeper_dashboard_v1_ListSettlementsRequest, callback: grpc.requestCallback<_tollkeeper_dashboard_v1_ListSettlementsResponse__Output>): grpc.ClientUnaryCall;
  /**
   * Answers the settlements whose event time is in `[from, until)`, page by page. Over all pages, each settlement that
   * the log had before the first page was asked for comes exactly once, whichever replicas answer and however long the
   * caller waits between pages. One that is reported later may come or not, but never twice. Events are kept for at
   * least 100 days after their time; older settlements are missing.
   * 
   * The first page waits for up to 5 seconds until the events of the workspace in the log are stored, and is
   * UNAVAILABLE if they are not. INVALID_ARGUMENT names a field that is malformed. RESOURCE_EXHAUSTED means that other
   * pages of the workspace take long. After UNAVAILABLE and RESOURCE_EXHAUSTED, a retry makes sense.
   * 
   * Safe to repeat: the same cursor answers at least the settlements that it answered before and that were in the log
   * before the first page.
   */
  listSettlements(argument: _tollkeeper_dashboard_v1_ListSettlementsRequest, metadata: grpc.Metadata, options: grpc.CallOptions, callback: grpc.requestCallback<_tollkeeper_dashboard_v1_ListSettlementsResponse__Output>): grpc.ClientUnaryCall;
  listSettlements(argument: _tollkeeper_dashboard_v1_ListSettlementsRequest, metadata: grpc.Metadata, callback: grpc.requestCallback<_tollkeeper_dashboard_v1_ListSettlementsResponse__Output>): grpc.ClientUnaryCall;
  listSettlements(argument: _tollkeeper_dashboard_v1_ListSettlementsRequest, options: grpc.CallOptions, callback: grpc.requestCallback<_tollkeeper_dashboard_v1_ListSettlementsResponse__Output>): grpc.ClientUnaryCall;
  listSettlements(argument: _tollkeeper_dashboard_v1_ListSettlementsRequest, callback: grpc.requestCallback<_tollkeeper_dashboard_v1_ListSettlementsResponse__Output>): grpc.ClientUnaryCall;
  
}

/**
 * The read side of stored events, for services that count them again.
 */
export interface DashboardServiceHandlers extends grpc.UntypedServiceImplementation {
  /**
   * Answers the settlements whose event time is in `[from, until)`, page by page. Over all pages, each settlement that
   * the log had before the first page was asked for comes exactly once, whichever replicas answer and however long the
   * caller waits between pages. One that is reported later may come or not, but never twice. Events are kept for at
   * least 100 days after their time; older settlements are missing.
   * 
   * The first page waits for up to 5 seconds until the events of the workspace in the log are stored, and is
   * UNAVAILABLE if they are not. INVALID_ARGUMENT names a field that is malformed. RESOURCE_EXHAUSTED means that other
   * pages of the workspace take long. After UNAVAILABLE and RESOURCE_EXHAUSTED, a retry makes sense.
   * 
   * Safe to repeat: the same cursor answers at least the settlements that it answered before and that were in the log
   * before the first page.
   */
  ListSettlements: grpc.handleUnaryCall<_tollkeeper_dashboard_v1_ListSettlementsRequest__Output, _tollkeeper_dashboard_v1_ListSettlementsResponse>;
  
}

export interface DashboardServiceDefinition extends grpc.ServiceDefinition {
  ListSettlements: MethodDefinition<_tollkeeper_dashboard_v1_ListSettlementsRequest, _tollkeeper_dashboard_v1_ListSettlementsResponse, _tollkeeper_dashboard_v1_ListSettlementsRequest__Output, _tollkeeper_dashboard_v1_ListSettlementsResponse__Output>
}
