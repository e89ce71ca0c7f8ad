// Original file: tollkeeper/budgets/v1/budgets.proto

import type * as grpc from '@grpc/grpc-js'
import type { MethodDefinition } from '@grpc/proto-loader'
import type { GetBudgetsRequest as _tollkeeper_budgets_v1_GetBudgetsRequest, GetBudgetsRequest__Output as _tollkeeper_budgets_v1_GetBudgetsRequest__Output } from '../../../tollkeeper/budgets/v1/GetBudgetsRequest.ts';
import type { GetBudgetsResponse as _tollkeeper_budgets_v1_GetBudgetsResponse, GetBudgetsResponse__Output as _tollkeeper_budgets_v1_GetBudgetsResponse__Output } from '../../../tollkeeper/budgets/v1/GetBudgetsResponse.ts';
import type { ListBudgetsRequest as _tollkeeper_budgets_v1_ListBudgetsRequest, ListBudgetsRequest__Output as _tollkeeper_budgets_v1_ListBudgetsRequest__Output } from '../../../tollkeeper/budgets/v1/ListBudgetsRequest.ts';
import type { ListBudgetsResponse as _tollkeeper_budgets_v1_ListBudgetsResponse, ListBudgetsResponse__Output as _tollkeeper_budgets_v1_ListBudgetsResponse__Output } from '../../../tollkeeper/budgets/v1/ListBudgetsResponse.ts';

/**
 * The read side of the budgets that owners set.
 */
export interface BudgetsServiceClient extends grpc.Client {
  /**
   * Answers the daily budget of a workspace, and those of the agents and plans asked for, as of now. A workspace that
   * nobody has set a budget for is an answer without any, not an error: budgets does not know which workspaces exist.
   * INVALID_ARGUMENT names a field that is malformed; UNAVAILABLE means that a retry makes sense.
   * 
   * Safe to repeat. Callers may keep an answer for some seconds.
   */
  GetBudgets(argument: _tollkeeper_budgets_v1_GetBudgetsRequest, metadata: grpc.Metadata, options: grpc.CallOptions, callback: grpc.requestCallback<_tollkeeper_budgets_v1_GetBudgetsResponse__Output>): grpc.ClientUnaryCall;
  GetBudgets(argument: _tollkeeper_budgets_v1_GetBudgetsRequest, metadata: grpc.Metadata, callback: grpc.requestCallback<_tollkeeper_budgets_v1_GetBudgetsResponse__Output>): grpc.ClientUnaryCall;
  GetBudgets(argument: _tollkeeper_budgets_v1_GetBudgetsRequest, options: grpc.CallOptions, callback: grpc.requestCallback<_tollkeeper_budgets_v1_GetBudgetsResponse__Output>): grpc.ClientUnaryCall;
  GetBudgets(argument: _tollkeeper_budgets_v1_GetBudgetsRequest, callback: grpc.requestCallback<_tollkeeper_budgets_v1_GetBudgetsResponse__Output>): grpc.ClientUnaryCall;
  /**
   * Answers the daily budget of a workspace, and those of the agents and plans asked for, as of now. A workspace that
   * nobody has set a budget for is an answer without any, not an error: budgets does not know which workspaces exist.
   * INVALID_ARGUMENT names a field that is malformed; UNAVAILABLE means that a retry makes sense.
   * 
   * Safe to repeat. Callers may keep an answer for some seconds.
   */
  getBudgets(argument: _tollkeeper_budgets_v1_GetBudgetsRequest, metadata: grpc.Metadata, options: grpc.CallOptions, callback: grpc.requestCallback<_tollkeeper_budgets_v1_GetBudgetsResponse__Output>): grpc.ClientUnaryCall;
  getBudgets(argument: _tollkeeper_budgets_v1_GetBudgetsRequest, metadata: grpc.Metadata, callback: grpc.requestCallback<_tollkeeper_budgets_v1_GetBudgetsResponse__Output>): grpc.ClientUnaryCall;
  getBudgets(argument: _tollkeeper_budgets_v1_GetBudgetsRequest, options: grpc.CallOptions, callback: grpc.requestCallback<_tollkeeper_budgets_v1_GetBudgetsResponse__Output>): grpc.ClientUnaryCall;
  getBudgets(argument: _tollkeeper_budgets_v1_GetBudgetsRequest, callback: grpc.requestCallback<_tollkeeper_budgets_v1_GetBudgetsResponse__Output>): grpc.ClientUnaryCall;
  
  /**
   * Answers every daily budget that is set in a workspace, as of now: its own, those of agents, and all plans. A
   * workspace without any is no error, as above.
   * 
   * Safe to repeat.
   */
  ListBudgets(argument: _tollkeeper_budgets_v1_ListBudgetsRequest, metadata: grpc.Metadata, options: grpc.CallOptions, callback: grpc.requestCallback<_tollkeeper_budgets_v1_ListBudgetsResponse__Output>): grpc.ClientUnaryCall;
  ListBudgets(argument: _tollkeeper_budgets_v1_ListBudgetsRequest, metadata: grpc.Metadata, callback: grpc.requestCallback<_tollkeeper_budgets_v1_ListBudgetsResponse__Output>): grpc.ClientUnaryCall;
  ListBudgets(argument: _tollkeeper_budgets_v1_ListBudgetsRequest, options: grpc.CallOptions, callback: grpc.requestCallback<_tollkeeper_budgets_v1_ListBudgetsResponse__Output>): grpc.ClientUnaryCall;
  ListBudgets(argument: _tollkeeper_budgets_v1_ListBudgetsRequest, callback: grpc.requestCallback<_tollkeeper_budgets_v1_ListBudgetsResponse__Output>): grpc.ClientUnaryCall;
  /**
   * Answers every daily budget that is set in a workspace, as of now: its own, those of agents, and all plans. A
   * workspace without any is no error, as above.
   * 
   * Safe to repeat.
   */
  listBudgets(argument: _tollkeeper_budgets_v1_ListBudgetsRequest, metadata: grpc.Metadata, options: grpc.CallOptions, callback: grpc.requestCallback<_tollkeeper_budgets_v1_ListBudgetsResponse__Output>): grpc.ClientUnaryCall;
  listBudgets(argument: _tollkeeper_budgets_v1_ListBudgetsRequest, metadata: grpc.Metadata, callback: grpc.requestCallback<_tollkeeper_budgets_v1_ListBudgetsResponse__Output>): grpc.ClientUnaryCall;
  listBudgets(argument: _tollkeeper_budgets_v1_ListBudgetsRequest, options: grpc.CallOptions, callback: grpc.requestCallback<_tollkeeper_budgets_v1_ListBudgetsResponse__Output>): grpc.ClientUnaryCall;
  listBudgets(argument: _tollkeeper_budgets_v1_ListBudgetsRequest, callback: grpc.requestCallback<_tollkeeper_budgets_v1_ListBudgetsResponse__Output>): grpc.ClientUnaryCall;
  
}

/**
 * The read side of the budgets that owners set.
 */
export interface BudgetsServiceHandlers extends grpc.UntypedServiceImplementation {
  /**
   * Answers the daily budget of a workspace, and those of the agents and plans asked for, as of now. A workspace that
   * nobody has set a budget for is an answer without any, not an error: budgets does not know which workspaces exist.
   * INVALID_ARGUMENT names a field that is malformed; UNAVAILABLE means that a retry makes sense.
   * 
   * Safe to repeat. Callers may keep an answer for some seconds.
   */
  GetBudgets: grpc.handleUnaryCall<_tollkeeper_budgets_v1_GetBudgetsRequest__Output, _tollkeeper_budgets_v1_GetBudgetsResponse>;
  
  /**
   * Answers every daily budget that is set in a workspace, as of now: its own, those of agents, and all plans. A
   * workspace without any is no error, as above.
   * 
   * Safe to repeat.
   */
  ListBudgets: grpc.handleUnaryCall<_tollkeeper_budgets_v1_ListBudgetsRequest__Output, _tollkeeper_budgets_v1_ListBudgetsResponse>;
  
}

export interface BudgetsServiceDefinition extends grpc.ServiceDefinition {
  GetBudgets: MethodDefinition<_tollkeeper_budgets_v1_GetBudgetsRequest, _tollkeeper_budgets_v1_GetBudgetsResponse, _tollkeeper_budgets_v1_GetBudgetsRequest__Output, _tollkeeper_budgets_v1_GetBudgetsResponse__Output>
  ListBudgets: MethodDefinition<_tollkeeper_budgets_v1_ListBudgetsRequest, _tollkeeper_budgets_v1_ListBudgetsResponse, _tollkeeper_budgets_v1_ListBudgetsRequest__Output, _tollkeeper_budgets_v1_ListBudgetsResponse__Output>
}
