// Original file: tollkeeper/budgets/v1/budgets.proto

import type * as grpc from '@grpc/grpc-js'
import type { MethodDefinition } from '@grpc/proto-loader'
import type { GetBudgetsRequest as _tollkeeper_budgets_v1_GetBudgetsRequest, GetBudgetsRequest__Output as _tollkeeper_budgets_v1_GetBudgetsRequest__Output } from '../../../tollkeeper/budgets/v1/GetBudgetsRequest.ts';
import type { GetBudgetsResponse as _tollkeeper_budgets_v1_GetBudgetsResponse, GetBudgetsResponse__Output as _tollkeeper_budgets_v1_GetBudgetsResponse__Output } from '../../../tollkeeper/budgets/v1/GetBudgetsResponse.ts';
import type { ListActiveBudgetsRequest as _tollkeeper_budgets_v1_ListActiveBudgetsRequest, ListActiveBudgetsRequest__Output as _tollkeeper_budgets_v1_ListActiveBudgetsRequest__Output } from '../../../tollkeeper/budgets/v1/ListActiveBudgetsRequest.ts';
import type { ListActiveBudgetsResponse as _tollkeeper_budgets_v1_ListActiveBudgetsResponse, ListActiveBudgetsResponse__Output as _tollkeeper_budgets_v1_ListActiveBudgetsResponse__Output } from '../../../tollkeeper/budgets/v1/ListActiveBudgetsResponse.ts';
import type { ListBudgetsRequest as _tollkeeper_budgets_v1_ListBudgetsRequest, ListBudgetsRequest__Output as _tollkeeper_budgets_v1_ListBudgetsRequest__Output } from '../../../tollkeeper/budgets/v1/ListBudgetsRequest.ts';
import type { ListBudgetsResponse as _tollkeeper_budgets_v1_ListBudgetsResponse, ListBudgetsResponse__Output as _tollkeeper_budgets_v1_ListBudgetsResponse__Output } from '../../../tollkeeper/budgets/v1/ListBudgetsResponse.ts';
import type { ListGrantedRaisesRequest as _tollkeeper_budgets_v1_ListGrantedRaisesRequest, ListGrantedRaisesRequest__Output as _tollkeeper_budgets_v1_ListGrantedRaisesRequest__Output } from '../../../tollkeeper/budgets/v1/ListGrantedRaisesRequest.ts';
import type { ListGrantedRaisesResponse as _tollkeeper_budgets_v1_ListGrantedRaisesResponse, ListGrantedRaisesResponse__Output as _tollkeeper_budgets_v1_ListGrantedRaisesResponse__Output } from '../../../tollkeeper/budgets/v1/ListGrantedRaisesResponse.ts';
import type { ListPricesRequest as _tollkeeper_budgets_v1_ListPricesRequest, ListPricesRequest__Output as _tollkeeper_budgets_v1_ListPricesRequest__Output } from '../../../tollkeeper/budgets/v1/ListPricesRequest.ts';
import type { ListPricesResponse as _tollkeeper_budgets_v1_ListPricesResponse, ListPricesResponse__Output as _tollkeeper_budgets_v1_ListPricesResponse__Output } from '../../../tollkeeper/budgets/v1/ListPricesResponse.ts';
import type { RequestRaiseRequest as _tollkeeper_budgets_v1_RequestRaiseRequest, RequestRaiseRequest__Output as _tollkeeper_budgets_v1_RequestRaiseRequest__Output } from '../../../tollkeeper/budgets/v1/RequestRaiseRequest.ts';
import type { RequestRaiseResponse as _tollkeeper_budgets_v1_RequestRaiseResponse, RequestRaiseResponse__Output as _tollkeeper_budgets_v1_RequestRaiseResponse__Output } from '../../../tollkeeper/budgets/v1/RequestRaiseResponse.ts';

/**
 * The read side of the budgets and prices that owners set.
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
   * Answers the active budgets of a workspace that have a selector and a period of their own, ordered by `id`; not the
   * daily budgets above. Also its pauses that have not ended, and the raises in force. A workspace without any is no
   * error.
   * 
   * Safe to repeat. Callers may keep an answer for some seconds.
   */
  ListActiveBudgets(argument: _tollkeeper_budgets_v1_ListActiveBudgetsRequest, metadata: grpc.Metadata, options: grpc.CallOptions, callback: grpc.requestCallback<_tollkeeper_budgets_v1_ListActiveBudgetsResponse__Output>): grpc.ClientUnaryCall;
  ListActiveBudgets(argument: _tollkeeper_budgets_v1_ListActiveBudgetsRequest, metadata: grpc.Metadata, callback: grpc.requestCallback<_tollkeeper_budgets_v1_ListActiveBudgetsResponse__Output>): grpc.ClientUnaryCall;
  ListActiveBudgets(argument: _tollkeeper_budgets_v1_ListActiveBudgetsRequest, options: grpc.CallOptions, callback: grpc.requestCallback<_tollkeeper_budgets_v1_ListActiveBudgetsResponse__Output>): grpc.ClientUnaryCall;
  ListActiveBudgets(argument: _tollkeeper_budgets_v1_ListActiveBudgetsRequest, callback: grpc.requestCallback<_tollkeeper_budgets_v1_ListActiveBudgetsResponse__Output>): grpc.ClientUnaryCall;
  /**
   * Answers the active budgets of a workspace that have a selector and a period of their own, ordered by `id`; not the
   * daily budgets above. Also its pauses that have not ended, and the raises in force. A workspace without any is no
   * error.
   * 
   * Safe to repeat. Callers may keep an answer for some seconds.
   */
  listActiveBudgets(argument: _tollkeeper_budgets_v1_ListActiveBudgetsRequest, metadata: grpc.Metadata, options: grpc.CallOptions, callback: grpc.requestCallback<_tollkeeper_budgets_v1_ListActiveBudgetsResponse__Output>): grpc.ClientUnaryCall;
  listActiveBudgets(argument: _tollkeeper_budgets_v1_ListActiveBudgetsRequest, metadata: grpc.Metadata, callback: grpc.requestCallback<_tollkeeper_budgets_v1_ListActiveBudgetsResponse__Output>): grpc.ClientUnaryCall;
  listActiveBudgets(argument: _tollkeeper_budgets_v1_ListActiveBudgetsRequest, options: grpc.CallOptions, callback: grpc.requestCallback<_tollkeeper_budgets_v1_ListActiveBudgetsResponse__Output>): grpc.ClientUnaryCall;
  listActiveBudgets(argument: _tollkeeper_budgets_v1_ListActiveBudgetsRequest, callback: grpc.requestCallback<_tollkeeper_budgets_v1_ListActiveBudgetsResponse__Output>): grpc.ClientUnaryCall;
  
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
  
  /**
   * Answers the raises that were granted in a span of at most 400 days, the largest amounts first, with what is known
   * of them now. Raises are kept for 400 days after their end.
   * 
   * Safe to repeat.
   */
  ListGrantedRaises(argument: _tollkeeper_budgets_v1_ListGrantedRaisesRequest, metadata: grpc.Metadata, options: grpc.CallOptions, callback: grpc.requestCallback<_tollkeeper_budgets_v1_ListGrantedRaisesResponse__Output>): grpc.ClientUnaryCall;
  ListGrantedRaises(argument: _tollkeeper_budgets_v1_ListGrantedRaisesRequest, metadata: grpc.Metadata, callback: grpc.requestCallback<_tollkeeper_budgets_v1_ListGrantedRaisesResponse__Output>): grpc.ClientUnaryCall;
  ListGrantedRaises(argument: _tollkeeper_budgets_v1_ListGrantedRaisesRequest, options: grpc.CallOptions, callback: grpc.requestCallback<_tollkeeper_budgets_v1_ListGrantedRaisesResponse__Output>): grpc.ClientUnaryCall;
  ListGrantedRaises(argument: _tollkeeper_budgets_v1_ListGrantedRaisesRequest, callback: grpc.requestCallback<_tollkeeper_budgets_v1_ListGrantedRaisesResponse__Output>): grpc.ClientUnaryCall;
  /**
   * Answers the raises that were granted in a span of at most 400 days, the largest amounts first, with what is known
   * of them now. Raises are kept for 400 days after their end.
   * 
   * Safe to repeat.
   */
  listGrantedRaises(argument: _tollkeeper_budgets_v1_ListGrantedRaisesRequest, metadata: grpc.Metadata, options: grpc.CallOptions, callback: grpc.requestCallback<_tollkeeper_budgets_v1_ListGrantedRaisesResponse__Output>): grpc.ClientUnaryCall;
  listGrantedRaises(argument: _tollkeeper_budgets_v1_ListGrantedRaisesRequest, metadata: grpc.Metadata, callback: grpc.requestCallback<_tollkeeper_budgets_v1_ListGrantedRaisesResponse__Output>): grpc.ClientUnaryCall;
  listGrantedRaises(argument: _tollkeeper_budgets_v1_ListGrantedRaisesRequest, options: grpc.CallOptions, callback: grpc.requestCallback<_tollkeeper_budgets_v1_ListGrantedRaisesResponse__Output>): grpc.ClientUnaryCall;
  listGrantedRaises(argument: _tollkeeper_budgets_v1_ListGrantedRaisesRequest, callback: grpc.requestCallback<_tollkeeper_budgets_v1_ListGrantedRaisesResponse__Output>): grpc.ClientUnaryCall;
  
  /**
   * Answers a page of the prices of models that owners of a workspace have set, in the order in which they set them. No
   * row ever changes or goes away. A workspace without any is no error.
   * 
   * Safe to repeat. Callers may keep an answer for some seconds.
   */
  ListPrices(argument: _tollkeeper_budgets_v1_ListPricesRequest, metadata: grpc.Metadata, options: grpc.CallOptions, callback: grpc.requestCallback<_tollkeeper_budgets_v1_ListPricesResponse__Output>): grpc.ClientUnaryCall;
  ListPrices(argument: _tollkeeper_budgets_v1_ListPricesRequest, metadata: grpc.Metadata, callback: grpc.requestCallback<_tollkeeper_budgets_v1_ListPricesResponse__Output>): grpc.ClientUnaryCall;
  ListPrices(argument: _tollkeeper_budgets_v1_ListPricesRequest, options: grpc.CallOptions, callback: grpc.requestCallback<_tollkeeper_budgets_v1_ListPricesResponse__Output>): grpc.ClientUnaryCall;
  ListPrices(argument: _tollkeeper_budgets_v1_ListPricesRequest, callback: grpc.requestCallback<_tollkeeper_budgets_v1_ListPricesResponse__Output>): grpc.ClientUnaryCall;
  /**
   * Answers a page of the prices of models that owners of a workspace have set, in the order in which they set them. No
   * row ever changes or goes away. A workspace without any is no error.
   * 
   * Safe to repeat. Callers may keep an answer for some seconds.
   */
  listPrices(argument: _tollkeeper_budgets_v1_ListPricesRequest, metadata: grpc.Metadata, options: grpc.CallOptions, callback: grpc.requestCallback<_tollkeeper_budgets_v1_ListPricesResponse__Output>): grpc.ClientUnaryCall;
  listPrices(argument: _tollkeeper_budgets_v1_ListPricesRequest, metadata: grpc.Metadata, callback: grpc.requestCallback<_tollkeeper_budgets_v1_ListPricesResponse__Output>): grpc.ClientUnaryCall;
  listPrices(argument: _tollkeeper_budgets_v1_ListPricesRequest, options: grpc.CallOptions, callback: grpc.requestCallback<_tollkeeper_budgets_v1_ListPricesResponse__Output>): grpc.ClientUnaryCall;
  listPrices(argument: _tollkeeper_budgets_v1_ListPricesRequest, callback: grpc.requestCallback<_tollkeeper_budgets_v1_ListPricesResponse__Output>): grpc.ClientUnaryCall;
  
  /**
   * Asks owners, for the holder of a workspace key, to raise a limit for a time. NOT_FOUND without such a budget;
   * RESOURCE_EXHAUSTED if the key has too many requests; ALREADY_EXISTS if its `request_id` came with other content.
   * 
   * Safe to repeat: the same `request_id` of a key answers the same request.
   */
  RequestRaise(argument: _tollkeeper_budgets_v1_RequestRaiseRequest, metadata: grpc.Metadata, options: grpc.CallOptions, callback: grpc.requestCallback<_tollkeeper_budgets_v1_RequestRaiseResponse__Output>): grpc.ClientUnaryCall;
  RequestRaise(argument: _tollkeeper_budgets_v1_RequestRaiseRequest, metadata: grpc.Metadata, callback: grpc.requestCallback<_tollkeeper_budgets_v1_RequestRaiseResponse__Output>): grpc.ClientUnaryCall;
  RequestRaise(argument: _tollkeeper_budgets_v1_RequestRaiseRequest, options: grpc.CallOptions, callback: grpc.requestCallback<_tollkeeper_budgets_v1_RequestRaiseResponse__Output>): grpc.ClientUnaryCall;
  RequestRaise(argument: _tollkeeper_budgets_v1_RequestRaiseRequest, callback: grpc.requestCallback<_tollkeeper_budgets_v1_RequestRaiseResponse__Output>): grpc.ClientUnaryCall;
  /**
   * Asks owners, for the holder of a workspace key, to raise a limit for a time. NOT_FOUND without such a budget;
   * RESOURCE_EXHAUSTED if the key has too many requests; ALREADY_EXISTS if its `request_id` came with other content.
   * 
   * Safe to repeat: the same `request_id` of a key answers the same request.
   */
  requestRaise(argument: _tollkeeper_budgets_v1_RequestRaiseRequest, metadata: grpc.Metadata, options: grpc.CallOptions, callback: grpc.requestCallback<_tollkeeper_budgets_v1_RequestRaiseResponse__Output>): grpc.ClientUnaryCall;
  requestRaise(argument: _tollkeeper_budgets_v1_RequestRaiseRequest, metadata: grpc.Metadata, callback: grpc.requestCallback<_tollkeeper_budgets_v1_RequestRaiseResponse__Output>): grpc.ClientUnaryCall;
  requestRaise(argument: _tollkeeper_budgets_v1_RequestRaiseRequest, options: grpc.CallOptions, callback: grpc.requestCallback<_tollkeeper_budgets_v1_RequestRaiseResponse__Output>): grpc.ClientUnaryCall;
  requestRaise(argument: _tollkeeper_budgets_v1_RequestRaiseRequest, callback: grpc.requestCallback<_tollkeeper_budgets_v1_RequestRaiseResponse__Output>): grpc.ClientUnaryCall;
  
}

/**
 * The read side of the budgets and prices that owners set.
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
   * Answers the active budgets of a workspace that have a selector and a period of their own, ordered by `id`; not the
   * daily budgets above. Also its pauses that have not ended, and the raises in force. A workspace without any is no
   * error.
   * 
   * Safe to repeat. Callers may keep an answer for some seconds.
   */
  ListActiveBudgets: grpc.handleUnaryCall<_tollkeeper_budgets_v1_ListActiveBudgetsRequest__Output, _tollkeeper_budgets_v1_ListActiveBudgetsResponse>;
  
  /**
   * Answers every daily budget that is set in a workspace, as of now: its own, those of agents, and all plans. A
   * workspace without any is no error, as above.
   * 
   * Safe to repeat.
   */
  ListBudgets: grpc.handleUnaryCall<_tollkeeper_budgets_v1_ListBudgetsRequest__Output, _tollkeeper_budgets_v1_ListBudgetsResponse>;
  
  /**
   * Answers the raises that were granted in a span of at most 400 days, the largest amounts first, with what is known
   * of them now. Raises are kept for 400 days after their end.
   * 
   * Safe to repeat.
   */
  ListGrantedRaises: grpc.handleUnaryCall<_tollkeeper_budgets_v1_ListGrantedRaisesRequest__Output, _tollkeeper_budgets_v1_ListGrantedRaisesResponse>;
  
  /**
   * Answers a page of the prices of models that owners of a workspace have set, in the order in which they set them. No
   * row ever changes or goes away. A workspace without any is no error.
   * 
   * Safe to repeat. Callers may keep an answer for some seconds.
   */
  ListPrices: grpc.handleUnaryCall<_tollkeeper_budgets_v1_ListPricesRequest__Output, _tollkeeper_budgets_v1_ListPricesResponse>;
  
  /**
   * Asks owners, for the holder of a workspace key, to raise a limit for a time. NOT_FOUND without such a budget;
   * RESOURCE_EXHAUSTED if the key has too many requests; ALREADY_EXISTS if its `request_id` came with other content.
   * 
   * Safe to repeat: the same `request_id` of a key answers the same request.
   */
  RequestRaise: grpc.handleUnaryCall<_tollkeeper_budgets_v1_RequestRaiseRequest__Output, _tollkeeper_budgets_v1_RequestRaiseResponse>;
  
}

export interface BudgetsServiceDefinition extends grpc.ServiceDefinition {
  GetBudgets: MethodDefinition<_tollkeeper_budgets_v1_GetBudgetsRequest, _tollkeeper_budgets_v1_GetBudgetsResponse, _tollkeeper_budgets_v1_GetBudgetsRequest__Output, _tollkeeper_budgets_v1_GetBudgetsResponse__Output>
  ListActiveBudgets: MethodDefinition<_tollkeeper_budgets_v1_ListActiveBudgetsRequest, _tollkeeper_budgets_v1_ListActiveBudgetsResponse, _tollkeeper_budgets_v1_ListActiveBudgetsRequest__Output, _tollkeeper_budgets_v1_ListActiveBudgetsResponse__Output>
  ListBudgets: MethodDefinition<_tollkeeper_budgets_v1_ListBudgetsRequest, _tollkeeper_budgets_v1_ListBudgetsResponse, _tollkeeper_budgets_v1_ListBudgetsRequest__Output, _tollkeeper_budgets_v1_ListBudgetsResponse__Output>
  ListGrantedRaises: MethodDefinition<_tollkeeper_budgets_v1_ListGrantedRaisesRequest, _tollkeeper_budgets_v1_ListGrantedRaisesResponse, _tollkeeper_budgets_v1_ListGrantedRaisesRequest__Output, _tollkeeper_budgets_v1_ListGrantedRaisesResponse__Output>
  ListPrices: MethodDefinition<_tollkeeper_budgets_v1_ListPricesRequest, _tollkeeper_budgets_v1_ListPricesResponse, _tollkeeper_budgets_v1_ListPricesRequest__Output, _tollkeeper_budgets_v1_ListPricesResponse__Output>
  RequestRaise: MethodDefinition<_tollkeeper_budgets_v1_RequestRaiseRequest, _tollkeeper_budgets_v1_RequestRaiseResponse, _tollkeeper_budgets_v1_RequestRaiseRequest__Output, _tollkeeper_budgets_v1_RequestRaiseResponse__Output>
}
