// Original file: tollkeeper/enforcer/v1/enforcer.proto

import type * as grpc from '@grpc/grpc-js'
import type { MethodDefinition } from '@grpc/proto-loader'
import type { ListBudgetsByRiskRequest as _tollkeeper_enforcer_v1_ListBudgetsByRiskRequest, ListBudgetsByRiskRequest__Output as _tollkeeper_enforcer_v1_ListBudgetsByRiskRequest__Output } from '../../../tollkeeper/enforcer/v1/ListBudgetsByRiskRequest.ts';
import type { ListBudgetsByRiskResponse as _tollkeeper_enforcer_v1_ListBudgetsByRiskResponse, ListBudgetsByRiskResponse__Output as _tollkeeper_enforcer_v1_ListBudgetsByRiskResponse__Output } from '../../../tollkeeper/enforcer/v1/ListBudgetsByRiskResponse.ts';

/**
 * What services that show budgets ask. Every RPC takes the token of a service, and no workspace key.
 */
export interface LimitsServiceClient extends grpc.Client {
  /**
   * Answers the budgets of a workspace in their running periods, as of now. Those at risk are first, then the others,
   * each by the larger part of the limit that is spent or will be at this pace. A budget with a limit for each value
   * comes once, with the value that is most at risk. A limit of 0 is never at risk, and comes last.
   * 
   * UNAVAILABLE within a second while budgets or the journal cannot be read. Safe to repeat. Callers may keep an answer
   * for some seconds.
   */
  ListBudgetsByRisk(argument: _tollkeeper_enforcer_v1_ListBudgetsByRiskRequest, metadata: grpc.Metadata, options: grpc.CallOptions, callback: grpc.requestCallback<_tollkeeper_enforcer_v1_ListBudgetsByRiskResponse__Output>): grpc.ClientUnaryCall;
  ListBudgetsByRisk(argument: _tollkeeper_enforcer_v1_ListBudgetsByRiskRequest, metadata: grpc.Metadata, callback: grpc.requestCallback<_tollkeeper_enforcer_v1_ListBudgetsByRiskResponse__Output>): grpc.ClientUnaryCall;
  ListBudgetsByRisk(argument: _tollkeeper_enforcer_v1_ListBudgetsByRiskRequest, options: grpc.CallOptions, callback: grpc.requestCallback<_tollkeeper_enforcer_v1_ListBudgetsByRiskResponse__Output>): grpc.ClientUnaryCall;
  ListBudgetsByRisk(argument: _tollkeeper_enforcer_v1_ListBudgetsByRiskRequest, callback: grpc.requestCallback<_tollkeeper_enforcer_v1_ListBudgetsByRiskResponse__Output>): grpc.ClientUnaryCall;
  /**
   * Answers the budgets of a workspace in their running periods, as of now. Those at risk are first, then the others,
   * each by the larger part of the limit that is spent or will be at this pace. A budget with a limit for each value
   * comes once, with the value that is most at risk. A limit of 0 is never at risk, and comes last.
   * 
   * UNAVAILABLE within a second while budgets or the journal cannot be read. Safe to repeat. Callers may keep an answer
   * for some seconds.
   */
  listBudgetsByRisk(argument: _tollkeeper_enforcer_v1_ListBudgetsByRiskRequest, metadata: grpc.Metadata, options: grpc.CallOptions, callback: grpc.requestCallback<_tollkeeper_enforcer_v1_ListBudgetsByRiskResponse__Output>): grpc.ClientUnaryCall;
  listBudgetsByRisk(argument: _tollkeeper_enforcer_v1_ListBudgetsByRiskRequest, metadata: grpc.Metadata, callback: grpc.requestCallback<_tollkeeper_enforcer_v1_ListBudgetsByRiskResponse__Output>): grpc.ClientUnaryCall;
  listBudgetsByRisk(argument: _tollkeeper_enforcer_v1_ListBudgetsByRiskRequest, options: grpc.CallOptions, callback: grpc.requestCallback<_tollkeeper_enforcer_v1_ListBudgetsByRiskResponse__Output>): grpc.ClientUnaryCall;
  listBudgetsByRisk(argument: _tollkeeper_enforcer_v1_ListBudgetsByRiskRequest, callback: grpc.requestCallback<_tollkeeper_enforcer_v1_ListBudgetsByRiskResponse__Output>): grpc.ClientUnaryCall;
  
}

/**
 * What services that show budgets ask. Every RPC takes the token of a service, and no workspace key.
 */
export interface LimitsServiceHandlers extends grpc.UntypedServiceImplementation {
  /**
   * Answers the budgets of a workspace in their running periods, as of now. Those at risk are first, then the others,
   * each by the larger part of the limit that is spent or will be at this pace. A budget with a limit for each value
   * comes once, with the value that is most at risk. A limit of 0 is never at risk, and comes last.
   * 
   * UNAVAILABLE within a second while budgets or the journal cannot be read. Safe to repeat. Callers may keep an answer
   * for some seconds.
   */
  ListBudgetsByRisk: grpc.handleUnaryCall<_tollkeeper_enforcer_v1_ListBudgetsByRiskRequest__Output, _tollkeeper_enforcer_v1_ListBudgetsByRiskResponse>;
  
}

export interface LimitsServiceDefinition extends grpc.ServiceDefinition {
  ListBudgetsByRisk: MethodDefinition<_tollkeeper_enforcer_v1_ListBudgetsByRiskRequest, _tollkeeper_enforcer_v1_ListBudgetsByRiskResponse, _tollkeeper_enforcer_v1_ListBudgetsByRiskRequest__Output, _tollkeeper_enforcer_v1_ListBudgetsByRiskResponse__Output>
}
