// Original file: tollkeeper/enforcer/v1/enforcer.proto

import type * as grpc from '@grpc/grpc-js'
import type { MethodDefinition } from '@grpc/proto-loader'
import type { GetLeaseRequest as _tollkeeper_enforcer_v1_GetLeaseRequest, GetLeaseRequest__Output as _tollkeeper_enforcer_v1_GetLeaseRequest__Output } from '../../../tollkeeper/enforcer/v1/GetLeaseRequest.ts';
import type { GetLeaseResponse as _tollkeeper_enforcer_v1_GetLeaseResponse, GetLeaseResponse__Output as _tollkeeper_enforcer_v1_GetLeaseResponse__Output } from '../../../tollkeeper/enforcer/v1/GetLeaseResponse.ts';
import type { GrantLeaseRequest as _tollkeeper_enforcer_v1_GrantLeaseRequest, GrantLeaseRequest__Output as _tollkeeper_enforcer_v1_GrantLeaseRequest__Output } from '../../../tollkeeper/enforcer/v1/GrantLeaseRequest.ts';
import type { GrantLeaseResponse as _tollkeeper_enforcer_v1_GrantLeaseResponse, GrantLeaseResponse__Output as _tollkeeper_enforcer_v1_GrantLeaseResponse__Output } from '../../../tollkeeper/enforcer/v1/GrantLeaseResponse.ts';
import type { RenewLeaseRequest as _tollkeeper_enforcer_v1_RenewLeaseRequest, RenewLeaseRequest__Output as _tollkeeper_enforcer_v1_RenewLeaseRequest__Output } from '../../../tollkeeper/enforcer/v1/RenewLeaseRequest.ts';
import type { RenewLeaseResponse as _tollkeeper_enforcer_v1_RenewLeaseResponse, RenewLeaseResponse__Output as _tollkeeper_enforcer_v1_RenewLeaseResponse__Output } from '../../../tollkeeper/enforcer/v1/RenewLeaseResponse.ts';
import type { ReturnLeaseRequest as _tollkeeper_enforcer_v1_ReturnLeaseRequest, ReturnLeaseRequest__Output as _tollkeeper_enforcer_v1_ReturnLeaseRequest__Output } from '../../../tollkeeper/enforcer/v1/ReturnLeaseRequest.ts';
import type { ReturnLeaseResponse as _tollkeeper_enforcer_v1_ReturnLeaseResponse, ReturnLeaseResponse__Output as _tollkeeper_enforcer_v1_ReturnLeaseResponse__Output } from '../../../tollkeeper/enforcer/v1/ReturnLeaseResponse.ts';
import type { SettleLeaseRequest as _tollkeeper_enforcer_v1_SettleLeaseRequest, SettleLeaseRequest__Output as _tollkeeper_enforcer_v1_SettleLeaseRequest__Output } from '../../../tollkeeper/enforcer/v1/SettleLeaseRequest.ts';
import type { SettleLeaseResponse as _tollkeeper_enforcer_v1_SettleLeaseResponse, SettleLeaseResponse__Output as _tollkeeper_enforcer_v1_SettleLeaseResponse__Output } from '../../../tollkeeper/enforcer/v1/SettleLeaseResponse.ts';

/**
 * Leases: amounts that a gateway holds once and decides from in its own memory, for many calls of an agent. The calls
 * are those of `/api/v1/leases` over HTTP.
 * 
 * Keys, errors, quotas and repeats are those of EnforcerService. A request has at most 320 KiB.
 */
export interface LeaseServiceClient extends grpc.Client {
  /**
   * Answers a lease. NOT_FOUND when the workspace has none with that id, also for one older than three days.
   */
  GetLease(argument: _tollkeeper_enforcer_v1_GetLeaseRequest, metadata: grpc.Metadata, options: grpc.CallOptions, callback: grpc.requestCallback<_tollkeeper_enforcer_v1_GetLeaseResponse__Output>): grpc.ClientUnaryCall;
  GetLease(argument: _tollkeeper_enforcer_v1_GetLeaseRequest, metadata: grpc.Metadata, callback: grpc.requestCallback<_tollkeeper_enforcer_v1_GetLeaseResponse__Output>): grpc.ClientUnaryCall;
  GetLease(argument: _tollkeeper_enforcer_v1_GetLeaseRequest, options: grpc.CallOptions, callback: grpc.requestCallback<_tollkeeper_enforcer_v1_GetLeaseResponse__Output>): grpc.ClientUnaryCall;
  GetLease(argument: _tollkeeper_enforcer_v1_GetLeaseRequest, callback: grpc.requestCallback<_tollkeeper_enforcer_v1_GetLeaseResponse__Output>): grpc.ClientUnaryCall;
  /**
   * Answers a lease. NOT_FOUND when the workspace has none with that id, also for one older than three days.
   */
  getLease(argument: _tollkeeper_enforcer_v1_GetLeaseRequest, metadata: grpc.Metadata, options: grpc.CallOptions, callback: grpc.requestCallback<_tollkeeper_enforcer_v1_GetLeaseResponse__Output>): grpc.ClientUnaryCall;
  getLease(argument: _tollkeeper_enforcer_v1_GetLeaseRequest, metadata: grpc.Metadata, callback: grpc.requestCallback<_tollkeeper_enforcer_v1_GetLeaseResponse__Output>): grpc.ClientUnaryCall;
  getLease(argument: _tollkeeper_enforcer_v1_GetLeaseRequest, options: grpc.CallOptions, callback: grpc.requestCallback<_tollkeeper_enforcer_v1_GetLeaseResponse__Output>): grpc.ClientUnaryCall;
  getLease(argument: _tollkeeper_enforcer_v1_GetLeaseRequest, callback: grpc.requestCallback<_tollkeeper_enforcer_v1_GetLeaseResponse__Output>): grpc.ClientUnaryCall;
  
  /**
   * Asks for an amount to decide from, and holds it. The server chooses it, from `min_micros` to `amount_micros`:
   * leases shrink where a limit has little left. If a limit has less left than `min_micros`, it is a denial, which is
   * an answer and not an error.
   * 
   * Use the lease only while its `state` is LEASE_STATE_OPEN, and only until it ends. For 24 hours, a repeated request
   * that was granted answers its lease as it is then. A request that was denied is decided anew. The `request_id` of a
   * lease with another content, or later, is ALREADY_EXISTS (`request_id_reused`).
   */
  GrantLease(argument: _tollkeeper_enforcer_v1_GrantLeaseRequest, metadata: grpc.Metadata, options: grpc.CallOptions, callback: grpc.requestCallback<_tollkeeper_enforcer_v1_GrantLeaseResponse__Output>): grpc.ClientUnaryCall;
  GrantLease(argument: _tollkeeper_enforcer_v1_GrantLeaseRequest, metadata: grpc.Metadata, callback: grpc.requestCallback<_tollkeeper_enforcer_v1_GrantLeaseResponse__Output>): grpc.ClientUnaryCall;
  GrantLease(argument: _tollkeeper_enforcer_v1_GrantLeaseRequest, options: grpc.CallOptions, callback: grpc.requestCallback<_tollkeeper_enforcer_v1_GrantLeaseResponse__Output>): grpc.ClientUnaryCall;
  GrantLease(argument: _tollkeeper_enforcer_v1_GrantLeaseRequest, callback: grpc.requestCallback<_tollkeeper_enforcer_v1_GrantLeaseResponse__Output>): grpc.ClientUnaryCall;
  /**
   * Asks for an amount to decide from, and holds it. The server chooses it, from `min_micros` to `amount_micros`:
   * leases shrink where a limit has little left. If a limit has less left than `min_micros`, it is a denial, which is
   * an answer and not an error.
   * 
   * Use the lease only while its `state` is LEASE_STATE_OPEN, and only until it ends. For 24 hours, a repeated request
   * that was granted answers its lease as it is then. A request that was denied is decided anew. The `request_id` of a
   * lease with another content, or later, is ALREADY_EXISTS (`request_id_reused`).
   */
  grantLease(argument: _tollkeeper_enforcer_v1_GrantLeaseRequest, metadata: grpc.Metadata, options: grpc.CallOptions, callback: grpc.requestCallback<_tollkeeper_enforcer_v1_GrantLeaseResponse__Output>): grpc.ClientUnaryCall;
  grantLease(argument: _tollkeeper_enforcer_v1_GrantLeaseRequest, metadata: grpc.Metadata, callback: grpc.requestCallback<_tollkeeper_enforcer_v1_GrantLeaseResponse__Output>): grpc.ClientUnaryCall;
  grantLease(argument: _tollkeeper_enforcer_v1_GrantLeaseRequest, options: grpc.CallOptions, callback: grpc.requestCallback<_tollkeeper_enforcer_v1_GrantLeaseResponse__Output>): grpc.ClientUnaryCall;
  grantLease(argument: _tollkeeper_enforcer_v1_GrantLeaseRequest, callback: grpc.requestCallback<_tollkeeper_enforcer_v1_GrantLeaseResponse__Output>): grpc.ClientUnaryCall;
  
  /**
   * Asks for a larger lease that lasts longer. It never gets smaller, nor ends sooner. A lease that cannot be renewed
   * is answered as it was: a period of a budget has ended in which it counts, the agent or the key has another label
   * now, the key is another one, or the plan is inactive. One whose calls are paused is returned. Ask for another lease
   * then. ALREADY_EXISTS (`conflict`) when it has ended.
   */
  RenewLease(argument: _tollkeeper_enforcer_v1_RenewLeaseRequest, metadata: grpc.Metadata, options: grpc.CallOptions, callback: grpc.requestCallback<_tollkeeper_enforcer_v1_RenewLeaseResponse__Output>): grpc.ClientUnaryCall;
  RenewLease(argument: _tollkeeper_enforcer_v1_RenewLeaseRequest, metadata: grpc.Metadata, callback: grpc.requestCallback<_tollkeeper_enforcer_v1_RenewLeaseResponse__Output>): grpc.ClientUnaryCall;
  RenewLease(argument: _tollkeeper_enforcer_v1_RenewLeaseRequest, options: grpc.CallOptions, callback: grpc.requestCallback<_tollkeeper_enforcer_v1_RenewLeaseResponse__Output>): grpc.ClientUnaryCall;
  RenewLease(argument: _tollkeeper_enforcer_v1_RenewLeaseRequest, callback: grpc.requestCallback<_tollkeeper_enforcer_v1_RenewLeaseResponse__Output>): grpc.ClientUnaryCall;
  /**
   * Asks for a larger lease that lasts longer. It never gets smaller, nor ends sooner. A lease that cannot be renewed
   * is answered as it was: a period of a budget has ended in which it counts, the agent or the key has another label
   * now, the key is another one, or the plan is inactive. One whose calls are paused is returned. Ask for another lease
   * then. ALREADY_EXISTS (`conflict`) when it has ended.
   */
  renewLease(argument: _tollkeeper_enforcer_v1_RenewLeaseRequest, metadata: grpc.Metadata, options: grpc.CallOptions, callback: grpc.requestCallback<_tollkeeper_enforcer_v1_RenewLeaseResponse__Output>): grpc.ClientUnaryCall;
  renewLease(argument: _tollkeeper_enforcer_v1_RenewLeaseRequest, metadata: grpc.Metadata, callback: grpc.requestCallback<_tollkeeper_enforcer_v1_RenewLeaseResponse__Output>): grpc.ClientUnaryCall;
  renewLease(argument: _tollkeeper_enforcer_v1_RenewLeaseRequest, options: grpc.CallOptions, callback: grpc.requestCallback<_tollkeeper_enforcer_v1_RenewLeaseResponse__Output>): grpc.ClientUnaryCall;
  renewLease(argument: _tollkeeper_enforcer_v1_RenewLeaseRequest, callback: grpc.requestCallback<_tollkeeper_enforcer_v1_RenewLeaseResponse__Output>): grpc.ClientUnaryCall;
  
  /**
   * Ends a lease, and frees what is left of it. Returning it again changes nothing, nor does returning one that has
   * expired. Settle its calls first: what comes later is late.
   */
  ReturnLease(argument: _tollkeeper_enforcer_v1_ReturnLeaseRequest, metadata: grpc.Metadata, options: grpc.CallOptions, callback: grpc.requestCallback<_tollkeeper_enforcer_v1_ReturnLeaseResponse__Output>): grpc.ClientUnaryCall;
  ReturnLease(argument: _tollkeeper_enforcer_v1_ReturnLeaseRequest, metadata: grpc.Metadata, callback: grpc.requestCallback<_tollkeeper_enforcer_v1_ReturnLeaseResponse__Output>): grpc.ClientUnaryCall;
  ReturnLease(argument: _tollkeeper_enforcer_v1_ReturnLeaseRequest, options: grpc.CallOptions, callback: grpc.requestCallback<_tollkeeper_enforcer_v1_ReturnLeaseResponse__Output>): grpc.ClientUnaryCall;
  ReturnLease(argument: _tollkeeper_enforcer_v1_ReturnLeaseRequest, callback: grpc.requestCallback<_tollkeeper_enforcer_v1_ReturnLeaseResponse__Output>): grpc.ClientUnaryCall;
  /**
   * Ends a lease, and frees what is left of it. Returning it again changes nothing, nor does returning one that has
   * expired. Settle its calls first: what comes later is late.
   */
  returnLease(argument: _tollkeeper_enforcer_v1_ReturnLeaseRequest, metadata: grpc.Metadata, options: grpc.CallOptions, callback: grpc.requestCallback<_tollkeeper_enforcer_v1_ReturnLeaseResponse__Output>): grpc.ClientUnaryCall;
  returnLease(argument: _tollkeeper_enforcer_v1_ReturnLeaseRequest, metadata: grpc.Metadata, callback: grpc.requestCallback<_tollkeeper_enforcer_v1_ReturnLeaseResponse__Output>): grpc.ClientUnaryCall;
  returnLease(argument: _tollkeeper_enforcer_v1_ReturnLeaseRequest, options: grpc.CallOptions, callback: grpc.requestCallback<_tollkeeper_enforcer_v1_ReturnLeaseResponse__Output>): grpc.ClientUnaryCall;
  returnLease(argument: _tollkeeper_enforcer_v1_ReturnLeaseRequest, callback: grpc.requestCallback<_tollkeeper_enforcer_v1_ReturnLeaseResponse__Output>): grpc.ClientUnaryCall;
  
  /**
   * Says what 1 to 1000 calls have cost. Their spend is in the event log before the answer, as `spend.settled` events.
   * No settlement is refused for its amount, nor made smaller. What the lease does not hold any more is above_hold, and
   * what comes after its end is late. Each `settlement_id` counts once. If its calls are paused, the lease is returned
   * afterwards. NOT_FOUND when the lease is unknown or older than three days: then report the calls as `spend.settled`
   * events.
   */
  SettleLease(argument: _tollkeeper_enforcer_v1_SettleLeaseRequest, metadata: grpc.Metadata, options: grpc.CallOptions, callback: grpc.requestCallback<_tollkeeper_enforcer_v1_SettleLeaseResponse__Output>): grpc.ClientUnaryCall;
  SettleLease(argument: _tollkeeper_enforcer_v1_SettleLeaseRequest, metadata: grpc.Metadata, callback: grpc.requestCallback<_tollkeeper_enforcer_v1_SettleLeaseResponse__Output>): grpc.ClientUnaryCall;
  SettleLease(argument: _tollkeeper_enforcer_v1_SettleLeaseRequest, options: grpc.CallOptions, callback: grpc.requestCallback<_tollkeeper_enforcer_v1_SettleLeaseResponse__Output>): grpc.ClientUnaryCall;
  SettleLease(argument: _tollkeeper_enforcer_v1_SettleLeaseRequest, callback: grpc.requestCallback<_tollkeeper_enforcer_v1_SettleLeaseResponse__Output>): grpc.ClientUnaryCall;
  /**
   * Says what 1 to 1000 calls have cost. Their spend is in the event log before the answer, as `spend.settled` events.
   * No settlement is refused for its amount, nor made smaller. What the lease does not hold any more is above_hold, and
   * what comes after its end is late. Each `settlement_id` counts once. If its calls are paused, the lease is returned
   * afterwards. NOT_FOUND when the lease is unknown or older than three days: then report the calls as `spend.settled`
   * events.
   */
  settleLease(argument: _tollkeeper_enforcer_v1_SettleLeaseRequest, metadata: grpc.Metadata, options: grpc.CallOptions, callback: grpc.requestCallback<_tollkeeper_enforcer_v1_SettleLeaseResponse__Output>): grpc.ClientUnaryCall;
  settleLease(argument: _tollkeeper_enforcer_v1_SettleLeaseRequest, metadata: grpc.Metadata, callback: grpc.requestCallback<_tollkeeper_enforcer_v1_SettleLeaseResponse__Output>): grpc.ClientUnaryCall;
  settleLease(argument: _tollkeeper_enforcer_v1_SettleLeaseRequest, options: grpc.CallOptions, callback: grpc.requestCallback<_tollkeeper_enforcer_v1_SettleLeaseResponse__Output>): grpc.ClientUnaryCall;
  settleLease(argument: _tollkeeper_enforcer_v1_SettleLeaseRequest, callback: grpc.requestCallback<_tollkeeper_enforcer_v1_SettleLeaseResponse__Output>): grpc.ClientUnaryCall;
  
}

/**
 * Leases: amounts that a gateway holds once and decides from in its own memory, for many calls of an agent. The calls
 * are those of `/api/v1/leases` over HTTP.
 * 
 * Keys, errors, quotas and repeats are those of EnforcerService. A request has at most 320 KiB.
 */
export interface LeaseServiceHandlers extends grpc.UntypedServiceImplementation {
  /**
   * Answers a lease. NOT_FOUND when the workspace has none with that id, also for one older than three days.
   */
  GetLease: grpc.handleUnaryCall<_tollkeeper_enforcer_v1_GetLeaseRequest__Output, _tollkeeper_enforcer_v1_GetLeaseResponse>;
  
  /**
   * Asks for an amount to decide from, and holds it. The server chooses it, from `min_micros` to `amount_micros`:
   * leases shrink where a limit has little left. If a limit has less left than `min_micros`, it is a denial, which is
   * an answer and not an error.
   * 
   * Use the lease only while its `state` is LEASE_STATE_OPEN, and only until it ends. For 24 hours, a repeated request
   * that was granted answers its lease as it is then. A request that was denied is decided anew. The `request_id` of a
   * lease with another content, or later, is ALREADY_EXISTS (`request_id_reused`).
   */
  GrantLease: grpc.handleUnaryCall<_tollkeeper_enforcer_v1_GrantLeaseRequest__Output, _tollkeeper_enforcer_v1_GrantLeaseResponse>;
  
  /**
   * Asks for a larger lease that lasts longer. It never gets smaller, nor ends sooner. A lease that cannot be renewed
   * is answered as it was: a period of a budget has ended in which it counts, the agent or the key has another label
   * now, the key is another one, or the plan is inactive. One whose calls are paused is returned. Ask for another lease
   * then. ALREADY_EXISTS (`conflict`) when it has ended.
   */
  RenewLease: grpc.handleUnaryCall<_tollkeeper_enforcer_v1_RenewLeaseRequest__Output, _tollkeeper_enforcer_v1_RenewLeaseResponse>;
  
  /**
   * Ends a lease, and frees what is left of it. Returning it again changes nothing, nor does returning one that has
   * expired. Settle its calls first: what comes later is late.
   */
  ReturnLease: grpc.handleUnaryCall<_tollkeeper_enforcer_v1_ReturnLeaseRequest__Output, _tollkeeper_enforcer_v1_ReturnLeaseResponse>;
  
  /**
   * Says what 1 to 1000 calls have cost. Their spend is in the event log before the answer, as `spend.settled` events.
   * No settlement is refused for its amount, nor made smaller. What the lease does not hold any more is above_hold, and
   * what comes after its end is late. Each `settlement_id` counts once. If its calls are paused, the lease is returned
   * afterwards. NOT_FOUND when the lease is unknown or older than three days: then report the calls as `spend.settled`
   * events.
   */
  SettleLease: grpc.handleUnaryCall<_tollkeeper_enforcer_v1_SettleLeaseRequest__Output, _tollkeeper_enforcer_v1_SettleLeaseResponse>;
  
}

export interface LeaseServiceDefinition extends grpc.ServiceDefinition {
  GetLease: MethodDefinition<_tollkeeper_enforcer_v1_GetLeaseRequest, _tollkeeper_enforcer_v1_GetLeaseResponse, _tollkeeper_enforcer_v1_GetLeaseRequest__Output, _tollkeeper_enforcer_v1_GetLeaseResponse__Output>
  GrantLease: MethodDefinition<_tollkeeper_enforcer_v1_GrantLeaseRequest, _tollkeeper_enforcer_v1_GrantLeaseResponse, _tollkeeper_enforcer_v1_GrantLeaseRequest__Output, _tollkeeper_enforcer_v1_GrantLeaseResponse__Output>
  RenewLease: MethodDefinition<_tollkeeper_enforcer_v1_RenewLeaseRequest, _tollkeeper_enforcer_v1_RenewLeaseResponse, _tollkeeper_enforcer_v1_RenewLeaseRequest__Output, _tollkeeper_enforcer_v1_RenewLeaseResponse__Output>
  ReturnLease: MethodDefinition<_tollkeeper_enforcer_v1_ReturnLeaseRequest, _tollkeeper_enforcer_v1_ReturnLeaseResponse, _tollkeeper_enforcer_v1_ReturnLeaseRequest__Output, _tollkeeper_enforcer_v1_ReturnLeaseResponse__Output>
  SettleLease: MethodDefinition<_tollkeeper_enforcer_v1_SettleLeaseRequest, _tollkeeper_enforcer_v1_SettleLeaseResponse, _tollkeeper_enforcer_v1_SettleLeaseRequest__Output, _tollkeeper_enforcer_v1_SettleLeaseResponse__Output>
}
