// Original file: tollkeeper/budgets/v1/budgets.proto

import type * as grpc from '@grpc/grpc-js'
import type { MethodDefinition } from '@grpc/proto-loader'
import type { GetBudgetsRequest as _tollkeeper_budgets_v1_GetBudgetsRequest, GetBudgetsRequest__Output as _tollkeeper_budgets_v1_GetBudgetsRequest__Output } from '../../../tollkeeper/budgets/v1/GetBudgetsRequest.ts';
import type { GetBudgetsResponse as _tollkeeper_budgets_v1_GetBudgetsResponse, GetBudgetsResponse__Output as _tollkeeper_budgets_v1_GetBudgetsResponse__Output } from '../../../tollkeeper/budgets/v1/GetBudgetsResponse.ts';

/**
 * The read side of the budgets that owners set.
 */
export interface BudgetsServiceClient extends grpc.Client {
  /**
   * Answers the daily budget of a workspace and those of the agents asked for, as of now. A workspace that nobody
   * has set a budget for is an answer without any, not an error: budgets does not know which workspaces exist.
   * INVALID_ARGUMENT names a field that is malformed; UNAVAILABLE means that a retry makes sense.
   * 
   * Safe to repeat. Callers may keep an answer for some seconds.
   */
  GetBudgets(argument: _tollkeeper_budgets_v1_GetBudgetsRequest, metadata: grpc.Metadata, options: grpc.CallOptions, callback: grpc.requestCallback<_tollkeeper_budgets_v1_GetBudgetsResponse__Output>): grpc.ClientUnaryCall;
  GetBudgets(argument: _tollkeeper_budgets_v1_GetBudgetsRequest, metadata: grpc.Metadata, callback: grpc.requestCallback<_tollkeeper_budgets_v1_GetBudgetsResponse__Output>): grpc.ClientUnaryCall;
  GetBudgets(argument: _tollkeeper_budgets_v1_GetBudgetsRequest, options: grpc.CallOptions, callback: grpc.requestCallback<_tollkeeper_budgets_v1_GetBudgetsResponse__Output>): grpc.ClientUnaryCall;
  GetBudgets(argument: _tollkeeper_budgets_v1_GetBudgetsRequest, callback: grpc.requestCallback<_tollkeeper_budgets_v1_GetBudgetsResponse__Output>): grpc.ClientUnaryCall;
  /**
   * Answers the daily budget of a workspace and those of the agents asked for, as of now. A workspace that nobody
   * has set a budget for is an answer without any, not an error: budgets does not know which workspaces exist.
   * INVALID_ARGUMENT names a field that is malformed; UNAVAILABLE means that a retry makes sense.
   * 
   * Safe to repeat. Callers may keep an answer for some seconds.
   */
  getBudgets(argument: _tollkeeper_budgets_v1_GetBudgetsRequest, metadata: grpc.Metadata, options: grpc.CallOptions, callback: grpc.requestCallback<_tollkeeper_budgets_v1_GetBudgetsResponse__Output>): grpc.ClientUnaryCall;
  getBudgets(argument: _tollkeeper_budgets_v1_GetBudgetsRequest, metadata: grpc.Metadata, callback: grpc.requestCallback<_tollkeeper_budgets_v1_GetBudgetsResponse__Output>): grpc.ClientUnaryCall;
  getBudgets(argument: _tollkeeper_budgets_v1_GetBudgetsRequest, options: grpc.CallOptions, callback: grpc.requestCallback<_tollkeeper_budgets_v1_GetBudgetsResponse__Output>): grpc.ClientUnaryCall;
  getBudgets(argument: _tollkeeper_budgets_v1_GetBudgetsRequest, callback: grpc.requestCallback<_tollkeeper_budgets_v1_GetBudgetsResponse__Output>): grpc.ClientUnaryCall;
  
}

/**
 * The read side of the budgets that owners set.
 */
export interface BudgetsServiceHandlers extends grpc.UntypedServiceImplementation {
  /**
   * Answers the daily budget of a workspace and those of the agents asked for, as of now. A workspace that nobody
   * has set a budget for is an answer without any, not an error: budgets does not know which workspaces exist.
   * INVALID_ARGUMENT names a field that is malformed; UNAVAILABLE means that a retry makes sense.
   * 
   * Safe to repeat. Callers may keep an answer for some seconds.
   */
  GetBudgets: grpc.handleUnaryCall<_tollkeeper_budgets_v1_GetBudgetsRequest__Output, _tollkeeper_budgets_v1_GetBudgetsResponse>;
  
}

export interface BudgetsServiceDefinition extends grpc.ServiceDefinition {
  GetBudgets: MethodDefinition<_tollkeeper_budgets_v1_GetBudgetsRequest, _tollkeeper_budgets_v1_GetBudgetsResponse, _tollkeeper_budgets_v1_GetBudgetsRequest__Output, _tollkeeper_budgets_v1_GetBudgetsResponse__Output>
}
