// Original file: tollkeeper/enforcer/v1/enforcer.proto

import type * as grpc from '@grpc/grpc-js'
import type { MethodDefinition } from '@grpc/proto-loader'
import type { ExtendRequest as _tollkeeper_enforcer_v1_ExtendRequest, ExtendRequest__Output as _tollkeeper_enforcer_v1_ExtendRequest__Output } from '../../../tollkeeper/enforcer/v1/ExtendRequest.ts';
import type { ExtendResponse as _tollkeeper_enforcer_v1_ExtendResponse, ExtendResponse__Output as _tollkeeper_enforcer_v1_ExtendResponse__Output } from '../../../tollkeeper/enforcer/v1/ExtendResponse.ts';
import type { GetReservationRequest as _tollkeeper_enforcer_v1_GetReservationRequest, GetReservationRequest__Output as _tollkeeper_enforcer_v1_GetReservationRequest__Output } from '../../../tollkeeper/enforcer/v1/GetReservationRequest.ts';
import type { GetReservationResponse as _tollkeeper_enforcer_v1_GetReservationResponse, GetReservationResponse__Output as _tollkeeper_enforcer_v1_GetReservationResponse__Output } from '../../../tollkeeper/enforcer/v1/GetReservationResponse.ts';
import type { ReleaseManyRequest as _tollkeeper_enforcer_v1_ReleaseManyRequest, ReleaseManyRequest__Output as _tollkeeper_enforcer_v1_ReleaseManyRequest__Output } from '../../../tollkeeper/enforcer/v1/ReleaseManyRequest.ts';
import type { ReleaseManyResponse as _tollkeeper_enforcer_v1_ReleaseManyResponse, ReleaseManyResponse__Output as _tollkeeper_enforcer_v1_ReleaseManyResponse__Output } from '../../../tollkeeper/enforcer/v1/ReleaseManyResponse.ts';
import type { ReleaseRequest as _tollkeeper_enforcer_v1_ReleaseRequest, ReleaseRequest__Output as _tollkeeper_enforcer_v1_ReleaseRequest__Output } from '../../../tollkeeper/enforcer/v1/ReleaseRequest.ts';
import type { ReleaseResponse as _tollkeeper_enforcer_v1_ReleaseResponse, ReleaseResponse__Output as _tollkeeper_enforcer_v1_ReleaseResponse__Output } from '../../../tollkeeper/enforcer/v1/ReleaseResponse.ts';
import type { ReserveManyRequest as _tollkeeper_enforcer_v1_ReserveManyRequest, ReserveManyRequest__Output as _tollkeeper_enforcer_v1_ReserveManyRequest__Output } from '../../../tollkeeper/enforcer/v1/ReserveManyRequest.ts';
import type { ReserveManyResponse as _tollkeeper_enforcer_v1_ReserveManyResponse, ReserveManyResponse__Output as _tollkeeper_enforcer_v1_ReserveManyResponse__Output } from '../../../tollkeeper/enforcer/v1/ReserveManyResponse.ts';
import type { ReserveRequest as _tollkeeper_enforcer_v1_ReserveRequest, ReserveRequest__Output as _tollkeeper_enforcer_v1_ReserveRequest__Output } from '../../../tollkeeper/enforcer/v1/ReserveRequest.ts';
import type { ReserveResponse as _tollkeeper_enforcer_v1_ReserveResponse, ReserveResponse__Output as _tollkeeper_enforcer_v1_ReserveResponse__Output } from '../../../tollkeeper/enforcer/v1/ReserveResponse.ts';
import type { ReserveStreamRequest as _tollkeeper_enforcer_v1_ReserveStreamRequest, ReserveStreamRequest__Output as _tollkeeper_enforcer_v1_ReserveStreamRequest__Output } from '../../../tollkeeper/enforcer/v1/ReserveStreamRequest.ts';
import type { ReserveStreamResponse as _tollkeeper_enforcer_v1_ReserveStreamResponse, ReserveStreamResponse__Output as _tollkeeper_enforcer_v1_ReserveStreamResponse__Output } from '../../../tollkeeper/enforcer/v1/ReserveStreamResponse.ts';
import type { SettleManyRequest as _tollkeeper_enforcer_v1_SettleManyRequest, SettleManyRequest__Output as _tollkeeper_enforcer_v1_SettleManyRequest__Output } from '../../../tollkeeper/enforcer/v1/SettleManyRequest.ts';
import type { SettleManyResponse as _tollkeeper_enforcer_v1_SettleManyResponse, SettleManyResponse__Output as _tollkeeper_enforcer_v1_SettleManyResponse__Output } from '../../../tollkeeper/enforcer/v1/SettleManyResponse.ts';
import type { SettleRequest as _tollkeeper_enforcer_v1_SettleRequest, SettleRequest__Output as _tollkeeper_enforcer_v1_SettleRequest__Output } from '../../../tollkeeper/enforcer/v1/SettleRequest.ts';
import type { SettleResponse as _tollkeeper_enforcer_v1_SettleResponse, SettleResponse__Output as _tollkeeper_enforcer_v1_SettleResponse__Output } from '../../../tollkeeper/enforcer/v1/SettleResponse.ts';

/**
 * What a gateway asks before a call, and says after it.
 * 
 * Every RPC takes a workspace key of the role developer or admin, as the metadata `authorization: Bearer ws_live_…`.
 * The workspace is the one of the key. A request has at most 320 KiB.
 * 
 * Every RPC is safe to repeat, and unary but for ReserveStream. Errors common to all of them: UNAUTHENTICATED for no
 * key, and for one that is unknown or revoked; PERMISSION_DENIED for a read_only key; RESOURCE_EXHAUSTED when the
 * workspace makes more calls a second than it may; INVALID_ARGUMENT names the fields that are wrong; UNAVAILABLE within
 * a second while nothing can be decided. After UNAVAILABLE, nothing or everything was done: a repeated call tells.
 * 
 * The trailing metadata `tollkeeper-error-bin` of an error is JSON in UTF-8: `code` is the stable code that the HTTP
 * API answers too, `details` lists the fields that are wrong, `retryAfterSeconds` says when to try again. A request
 * that is too large is RESOURCE_EXHAUSTED without it, and is not to be repeated. The trailing metadata `x-request-id`
 * is the id of the request, as in the logs.
 */
export interface EnforcerServiceClient extends grpc.Client {
  /**
   * Holds a reservation for longer, counted from now on. ALREADY_EXISTS (`conflict`) unless it is held.
   */
  Extend(argument: _tollkeeper_enforcer_v1_ExtendRequest, metadata: grpc.Metadata, options: grpc.CallOptions, callback: grpc.requestCallback<_tollkeeper_enforcer_v1_ExtendResponse__Output>): grpc.ClientUnaryCall;
  Extend(argument: _tollkeeper_enforcer_v1_ExtendRequest, metadata: grpc.Metadata, callback: grpc.requestCallback<_tollkeeper_enforcer_v1_ExtendResponse__Output>): grpc.ClientUnaryCall;
  Extend(argument: _tollkeeper_enforcer_v1_ExtendRequest, options: grpc.CallOptions, callback: grpc.requestCallback<_tollkeeper_enforcer_v1_ExtendResponse__Output>): grpc.ClientUnaryCall;
  Extend(argument: _tollkeeper_enforcer_v1_ExtendRequest, callback: grpc.requestCallback<_tollkeeper_enforcer_v1_ExtendResponse__Output>): grpc.ClientUnaryCall;
  /**
   * Holds a reservation for longer, counted from now on. ALREADY_EXISTS (`conflict`) unless it is held.
   */
  extend(argument: _tollkeeper_enforcer_v1_ExtendRequest, metadata: grpc.Metadata, options: grpc.CallOptions, callback: grpc.requestCallback<_tollkeeper_enforcer_v1_ExtendResponse__Output>): grpc.ClientUnaryCall;
  extend(argument: _tollkeeper_enforcer_v1_ExtendRequest, metadata: grpc.Metadata, callback: grpc.requestCallback<_tollkeeper_enforcer_v1_ExtendResponse__Output>): grpc.ClientUnaryCall;
  extend(argument: _tollkeeper_enforcer_v1_ExtendRequest, options: grpc.CallOptions, callback: grpc.requestCallback<_tollkeeper_enforcer_v1_ExtendResponse__Output>): grpc.ClientUnaryCall;
  extend(argument: _tollkeeper_enforcer_v1_ExtendRequest, callback: grpc.requestCallback<_tollkeeper_enforcer_v1_ExtendResponse__Output>): grpc.ClientUnaryCall;
  
  /**
   * Answers a reservation. NOT_FOUND when the workspace has none with that id, also for one older than three days.
   */
  GetReservation(argument: _tollkeeper_enforcer_v1_GetReservationRequest, metadata: grpc.Metadata, options: grpc.CallOptions, callback: grpc.requestCallback<_tollkeeper_enforcer_v1_GetReservationResponse__Output>): grpc.ClientUnaryCall;
  GetReservation(argument: _tollkeeper_enforcer_v1_GetReservationRequest, metadata: grpc.Metadata, callback: grpc.requestCallback<_tollkeeper_enforcer_v1_GetReservationResponse__Output>): grpc.ClientUnaryCall;
  GetReservation(argument: _tollkeeper_enforcer_v1_GetReservationRequest, options: grpc.CallOptions, callback: grpc.requestCallback<_tollkeeper_enforcer_v1_GetReservationResponse__Output>): grpc.ClientUnaryCall;
  GetReservation(argument: _tollkeeper_enforcer_v1_GetReservationRequest, callback: grpc.requestCallback<_tollkeeper_enforcer_v1_GetReservationResponse__Output>): grpc.ClientUnaryCall;
  /**
   * Answers a reservation. NOT_FOUND when the workspace has none with that id, also for one older than three days.
   */
  getReservation(argument: _tollkeeper_enforcer_v1_GetReservationRequest, metadata: grpc.Metadata, options: grpc.CallOptions, callback: grpc.requestCallback<_tollkeeper_enforcer_v1_GetReservationResponse__Output>): grpc.ClientUnaryCall;
  getReservation(argument: _tollkeeper_enforcer_v1_GetReservationRequest, metadata: grpc.Metadata, callback: grpc.requestCallback<_tollkeeper_enforcer_v1_GetReservationResponse__Output>): grpc.ClientUnaryCall;
  getReservation(argument: _tollkeeper_enforcer_v1_GetReservationRequest, options: grpc.CallOptions, callback: grpc.requestCallback<_tollkeeper_enforcer_v1_GetReservationResponse__Output>): grpc.ClientUnaryCall;
  getReservation(argument: _tollkeeper_enforcer_v1_GetReservationRequest, callback: grpc.requestCallback<_tollkeeper_enforcer_v1_GetReservationResponse__Output>): grpc.ClientUnaryCall;
  
  /**
   * Says that the call has cost nothing, which frees what was held. Releasing again changes nothing, nor does releasing
   * what has expired. ALREADY_EXISTS (`conflict`) when the reservation was settled.
   */
  Release(argument: _tollkeeper_enforcer_v1_ReleaseRequest, metadata: grpc.Metadata, options: grpc.CallOptions, callback: grpc.requestCallback<_tollkeeper_enforcer_v1_ReleaseResponse__Output>): grpc.ClientUnaryCall;
  Release(argument: _tollkeeper_enforcer_v1_ReleaseRequest, metadata: grpc.Metadata, callback: grpc.requestCallback<_tollkeeper_enforcer_v1_ReleaseResponse__Output>): grpc.ClientUnaryCall;
  Release(argument: _tollkeeper_enforcer_v1_ReleaseRequest, options: grpc.CallOptions, callback: grpc.requestCallback<_tollkeeper_enforcer_v1_ReleaseResponse__Output>): grpc.ClientUnaryCall;
  Release(argument: _tollkeeper_enforcer_v1_ReleaseRequest, callback: grpc.requestCallback<_tollkeeper_enforcer_v1_ReleaseResponse__Output>): grpc.ClientUnaryCall;
  /**
   * Says that the call has cost nothing, which frees what was held. Releasing again changes nothing, nor does releasing
   * what has expired. ALREADY_EXISTS (`conflict`) when the reservation was settled.
   */
  release(argument: _tollkeeper_enforcer_v1_ReleaseRequest, metadata: grpc.Metadata, options: grpc.CallOptions, callback: grpc.requestCallback<_tollkeeper_enforcer_v1_ReleaseResponse__Output>): grpc.ClientUnaryCall;
  release(argument: _tollkeeper_enforcer_v1_ReleaseRequest, metadata: grpc.Metadata, callback: grpc.requestCallback<_tollkeeper_enforcer_v1_ReleaseResponse__Output>): grpc.ClientUnaryCall;
  release(argument: _tollkeeper_enforcer_v1_ReleaseRequest, options: grpc.CallOptions, callback: grpc.requestCallback<_tollkeeper_enforcer_v1_ReleaseResponse__Output>): grpc.ClientUnaryCall;
  release(argument: _tollkeeper_enforcer_v1_ReleaseRequest, callback: grpc.requestCallback<_tollkeeper_enforcer_v1_ReleaseResponse__Output>): grpc.ClientUnaryCall;
  
  /**
   * Release for 1 to 50 requests at once, as ReserveMany does it.
   */
  ReleaseMany(argument: _tollkeeper_enforcer_v1_ReleaseManyRequest, metadata: grpc.Metadata, options: grpc.CallOptions, callback: grpc.requestCallback<_tollkeeper_enforcer_v1_ReleaseManyResponse__Output>): grpc.ClientUnaryCall;
  ReleaseMany(argument: _tollkeeper_enforcer_v1_ReleaseManyRequest, metadata: grpc.Metadata, callback: grpc.requestCallback<_tollkeeper_enforcer_v1_ReleaseManyResponse__Output>): grpc.ClientUnaryCall;
  ReleaseMany(argument: _tollkeeper_enforcer_v1_ReleaseManyRequest, options: grpc.CallOptions, callback: grpc.requestCallback<_tollkeeper_enforcer_v1_ReleaseManyResponse__Output>): grpc.ClientUnaryCall;
  ReleaseMany(argument: _tollkeeper_enforcer_v1_ReleaseManyRequest, callback: grpc.requestCallback<_tollkeeper_enforcer_v1_ReleaseManyResponse__Output>): grpc.ClientUnaryCall;
  /**
   * Release for 1 to 50 requests at once, as ReserveMany does it.
   */
  releaseMany(argument: _tollkeeper_enforcer_v1_ReleaseManyRequest, metadata: grpc.Metadata, options: grpc.CallOptions, callback: grpc.requestCallback<_tollkeeper_enforcer_v1_ReleaseManyResponse__Output>): grpc.ClientUnaryCall;
  releaseMany(argument: _tollkeeper_enforcer_v1_ReleaseManyRequest, metadata: grpc.Metadata, callback: grpc.requestCallback<_tollkeeper_enforcer_v1_ReleaseManyResponse__Output>): grpc.ClientUnaryCall;
  releaseMany(argument: _tollkeeper_enforcer_v1_ReleaseManyRequest, options: grpc.CallOptions, callback: grpc.requestCallback<_tollkeeper_enforcer_v1_ReleaseManyResponse__Output>): grpc.ClientUnaryCall;
  releaseMany(argument: _tollkeeper_enforcer_v1_ReleaseManyRequest, callback: grpc.requestCallback<_tollkeeper_enforcer_v1_ReleaseManyResponse__Output>): grpc.ClientUnaryCall;
  
  /**
   * Asks whether a call may spend, and holds the amount if it may. A denial is an answer, not an error. Nothing is
   * allowed that is not durable.
   * 
   * Make the call only while `reservation.state` is RESERVATION_STATE_HELD: for 24 hours, a repeated request that was
   * granted answers its reservation as it is then. A request that was denied is decided anew. The `request_id` of a
   * reservation with another content, or later, is ALREADY_EXISTS (`request_id_reused`). INVALID_ARGUMENT for a plan
   * that is unknown or not active. RESOURCE_EXHAUSTED when the workspace has too many open reservations. An agent that
   * was never seen is registered. PERMISSION_DENIED (`label_pinned`) when the request has another value for a label
   * than its workspace key.
   */
  Reserve(argument: _tollkeeper_enforcer_v1_ReserveRequest, metadata: grpc.Metadata, options: grpc.CallOptions, callback: grpc.requestCallback<_tollkeeper_enforcer_v1_ReserveResponse__Output>): grpc.ClientUnaryCall;
  Reserve(argument: _tollkeeper_enforcer_v1_ReserveRequest, metadata: grpc.Metadata, callback: grpc.requestCallback<_tollkeeper_enforcer_v1_ReserveResponse__Output>): grpc.ClientUnaryCall;
  Reserve(argument: _tollkeeper_enforcer_v1_ReserveRequest, options: grpc.CallOptions, callback: grpc.requestCallback<_tollkeeper_enforcer_v1_ReserveResponse__Output>): grpc.ClientUnaryCall;
  Reserve(argument: _tollkeeper_enforcer_v1_ReserveRequest, callback: grpc.requestCallback<_tollkeeper_enforcer_v1_ReserveResponse__Output>): grpc.ClientUnaryCall;
  /**
   * Asks whether a call may spend, and holds the amount if it may. A denial is an answer, not an error. Nothing is
   * allowed that is not durable.
   * 
   * Make the call only while `reservation.state` is RESERVATION_STATE_HELD: for 24 hours, a repeated request that was
   * granted answers its reservation as it is then. A request that was denied is decided anew. The `request_id` of a
   * reservation with another content, or later, is ALREADY_EXISTS (`request_id_reused`). INVALID_ARGUMENT for a plan
   * that is unknown or not active. RESOURCE_EXHAUSTED when the workspace has too many open reservations. An agent that
   * was never seen is registered. PERMISSION_DENIED (`label_pinned`) when the request has another value for a label
   * than its workspace key.
   */
  reserve(argument: _tollkeeper_enforcer_v1_ReserveRequest, metadata: grpc.Metadata, options: grpc.CallOptions, callback: grpc.requestCallback<_tollkeeper_enforcer_v1_ReserveResponse__Output>): grpc.ClientUnaryCall;
  reserve(argument: _tollkeeper_enforcer_v1_ReserveRequest, metadata: grpc.Metadata, callback: grpc.requestCallback<_tollkeeper_enforcer_v1_ReserveResponse__Output>): grpc.ClientUnaryCall;
  reserve(argument: _tollkeeper_enforcer_v1_ReserveRequest, options: grpc.CallOptions, callback: grpc.requestCallback<_tollkeeper_enforcer_v1_ReserveResponse__Output>): grpc.ClientUnaryCall;
  reserve(argument: _tollkeeper_enforcer_v1_ReserveRequest, callback: grpc.requestCallback<_tollkeeper_enforcer_v1_ReserveResponse__Output>): grpc.ClientUnaryCall;
  
  /**
   * Reserve for 1 to 50 requests at once, which cost the transport once: for gateways that have many calls under way at
   * the same moment. `results` has one result for each request, in their order. Each request is answered, refused and
   * repeated as if it had come alone, also one that is in the batch twice. So a batch that got no answer is sent again
   * as it was, or in other parts.
   * 
   * The requests are decided together, and the batch is answered when all of them are, within a second. One that takes
   * longer than that has the error `service_unavailable`. The quota of the workspace counts each request. The batch as
   * a whole fails for its key and its quota, and for more than 50 requests or none: then nothing was done.
   */
  ReserveMany(argument: _tollkeeper_enforcer_v1_ReserveManyRequest, metadata: grpc.Metadata, options: grpc.CallOptions, callback: grpc.requestCallback<_tollkeeper_enforcer_v1_ReserveManyResponse__Output>): grpc.ClientUnaryCall;
  ReserveMany(argument: _tollkeeper_enforcer_v1_ReserveManyRequest, metadata: grpc.Metadata, callback: grpc.requestCallback<_tollkeeper_enforcer_v1_ReserveManyResponse__Output>): grpc.ClientUnaryCall;
  ReserveMany(argument: _tollkeeper_enforcer_v1_ReserveManyRequest, options: grpc.CallOptions, callback: grpc.requestCallback<_tollkeeper_enforcer_v1_ReserveManyResponse__Output>): grpc.ClientUnaryCall;
  ReserveMany(argument: _tollkeeper_enforcer_v1_ReserveManyRequest, callback: grpc.requestCallback<_tollkeeper_enforcer_v1_ReserveManyResponse__Output>): grpc.ClientUnaryCall;
  /**
   * Reserve for 1 to 50 requests at once, which cost the transport once: for gateways that have many calls under way at
   * the same moment. `results` has one result for each request, in their order. Each request is answered, refused and
   * repeated as if it had come alone, also one that is in the batch twice. So a batch that got no answer is sent again
   * as it was, or in other parts.
   * 
   * The requests are decided together, and the batch is answered when all of them are, within a second. One that takes
   * longer than that has the error `service_unavailable`. The quota of the workspace counts each request. The batch as
   * a whole fails for its key and its quota, and for more than 50 requests or none: then nothing was done.
   */
  reserveMany(argument: _tollkeeper_enforcer_v1_ReserveManyRequest, metadata: grpc.Metadata, options: grpc.CallOptions, callback: grpc.requestCallback<_tollkeeper_enforcer_v1_ReserveManyResponse__Output>): grpc.ClientUnaryCall;
  reserveMany(argument: _tollkeeper_enforcer_v1_ReserveManyRequest, metadata: grpc.Metadata, callback: grpc.requestCallback<_tollkeeper_enforcer_v1_ReserveManyResponse__Output>): grpc.ClientUnaryCall;
  reserveMany(argument: _tollkeeper_enforcer_v1_ReserveManyRequest, options: grpc.CallOptions, callback: grpc.requestCallback<_tollkeeper_enforcer_v1_ReserveManyResponse__Output>): grpc.ClientUnaryCall;
  reserveMany(argument: _tollkeeper_enforcer_v1_ReserveManyRequest, callback: grpc.requestCallback<_tollkeeper_enforcer_v1_ReserveManyResponse__Output>): grpc.ClientUnaryCall;
  
  /**
   * Reserve, Settle and Release for many calls of a gateway over one stream, at the lowest cost for each. Send each
   * call when it comes; calls that come at the same moment may share a message. Each is answered as soon as it is
   * decided, in any order and within a second, and is refused and repeated as if it had come by its own RPC. Its
   * error is in its answer. `tag` says which request an answer is for. The quota of the workspace counts each
   * request, and a key that is revoked is refused as soon as by single calls.
   * 
   * The server ends a stream with OK after 20 seconds, and when it stops. It answers first what it has read: repeat
   * the other requests on a new stream with the same ids, and do the same after UNAVAILABLE. Of a stream, 200
   * requests are in progress at a time; the server reads no more until they are answered. The stream as a whole fails
   * for its key, and for a message that is too large or has more than 50 requests or none.
   * 
   * Servers of release 0.1.0 answer UNIMPLEMENTED. Make single calls then.
   */
  ReserveStream(metadata: grpc.Metadata, options?: grpc.CallOptions): grpc.ClientDuplexStream<_tollkeeper_enforcer_v1_ReserveStreamRequest, _tollkeeper_enforcer_v1_ReserveStreamResponse__Output>;
  ReserveStream(options?: grpc.CallOptions): grpc.ClientDuplexStream<_tollkeeper_enforcer_v1_ReserveStreamRequest, _tollkeeper_enforcer_v1_ReserveStreamResponse__Output>;
  /**
   * Reserve, Settle and Release for many calls of a gateway over one stream, at the lowest cost for each. Send each
   * call when it comes; calls that come at the same moment may share a message. Each is answered as soon as it is
   * decided, in any order and within a second, and is refused and repeated as if it had come by its own RPC. Its
   * error is in its answer. `tag` says which request an answer is for. The quota of the workspace counts each
   * request, and a key that is revoked is refused as soon as by single calls.
   * 
   * The server ends a stream with OK after 20 seconds, and when it stops. It answers first what it has read: repeat
   * the other requests on a new stream with the same ids, and do the same after UNAVAILABLE. Of a stream, 200
   * requests are in progress at a time; the server reads no more until they are answered. The stream as a whole fails
   * for its key, and for a message that is too large or has more than 50 requests or none.
   * 
   * Servers of release 0.1.0 answer UNIMPLEMENTED. Make single calls then.
   */
  reserveStream(metadata: grpc.Metadata, options?: grpc.CallOptions): grpc.ClientDuplexStream<_tollkeeper_enforcer_v1_ReserveStreamRequest, _tollkeeper_enforcer_v1_ReserveStreamResponse__Output>;
  reserveStream(options?: grpc.CallOptions): grpc.ClientDuplexStream<_tollkeeper_enforcer_v1_ReserveStreamRequest, _tollkeeper_enforcer_v1_ReserveStreamResponse__Output>;
  
  /**
   * Says what the call has cost. It is never refused for its amount, nor made smaller: the money is spent. The spend is
   * in the event log before the answer, as a `spend.settled` event. A reservation that has expired can be settled too.
   * 
   * Settling again with the same `settlement_id` changes nothing: the first amount stays. With another one, or when the
   * reservation was released, it is ALREADY_EXISTS (`conflict`), and NOT_FOUND when it is unknown or older than three
   * days. What was spent all the same is reported as a `spend.settled` event.
   */
  Settle(argument: _tollkeeper_enforcer_v1_SettleRequest, metadata: grpc.Metadata, options: grpc.CallOptions, callback: grpc.requestCallback<_tollkeeper_enforcer_v1_SettleResponse__Output>): grpc.ClientUnaryCall;
  Settle(argument: _tollkeeper_enforcer_v1_SettleRequest, metadata: grpc.Metadata, callback: grpc.requestCallback<_tollkeeper_enforcer_v1_SettleResponse__Output>): grpc.ClientUnaryCall;
  Settle(argument: _tollkeeper_enforcer_v1_SettleRequest, options: grpc.CallOptions, callback: grpc.requestCallback<_tollkeeper_enforcer_v1_SettleResponse__Output>): grpc.ClientUnaryCall;
  Settle(argument: _tollkeeper_enforcer_v1_SettleRequest, callback: grpc.requestCallback<_tollkeeper_enforcer_v1_SettleResponse__Output>): grpc.ClientUnaryCall;
  /**
   * Says what the call has cost. It is never refused for its amount, nor made smaller: the money is spent. The spend is
   * in the event log before the answer, as a `spend.settled` event. A reservation that has expired can be settled too.
   * 
   * Settling again with the same `settlement_id` changes nothing: the first amount stays. With another one, or when the
   * reservation was released, it is ALREADY_EXISTS (`conflict`), and NOT_FOUND when it is unknown or older than three
   * days. What was spent all the same is reported as a `spend.settled` event.
   */
  settle(argument: _tollkeeper_enforcer_v1_SettleRequest, metadata: grpc.Metadata, options: grpc.CallOptions, callback: grpc.requestCallback<_tollkeeper_enforcer_v1_SettleResponse__Output>): grpc.ClientUnaryCall;
  settle(argument: _tollkeeper_enforcer_v1_SettleRequest, metadata: grpc.Metadata, callback: grpc.requestCallback<_tollkeeper_enforcer_v1_SettleResponse__Output>): grpc.ClientUnaryCall;
  settle(argument: _tollkeeper_enforcer_v1_SettleRequest, options: grpc.CallOptions, callback: grpc.requestCallback<_tollkeeper_enforcer_v1_SettleResponse__Output>): grpc.ClientUnaryCall;
  settle(argument: _tollkeeper_enforcer_v1_SettleRequest, callback: grpc.requestCallback<_tollkeeper_enforcer_v1_SettleResponse__Output>): grpc.ClientUnaryCall;
  
  /**
   * Settle for 1 to 50 requests at once, as ReserveMany does it.
   */
  SettleMany(argument: _tollkeeper_enforcer_v1_SettleManyRequest, metadata: grpc.Metadata, options: grpc.CallOptions, callback: grpc.requestCallback<_tollkeeper_enforcer_v1_SettleManyResponse__Output>): grpc.ClientUnaryCall;
  SettleMany(argument: _tollkeeper_enforcer_v1_SettleManyRequest, metadata: grpc.Metadata, callback: grpc.requestCallback<_tollkeeper_enforcer_v1_SettleManyResponse__Output>): grpc.ClientUnaryCall;
  SettleMany(argument: _tollkeeper_enforcer_v1_SettleManyRequest, options: grpc.CallOptions, callback: grpc.requestCallback<_tollkeeper_enforcer_v1_SettleManyResponse__Output>): grpc.ClientUnaryCall;
  SettleMany(argument: _tollkeeper_enforcer_v1_SettleManyRequest, callback: grpc.requestCallback<_tollkeeper_enforcer_v1_SettleManyResponse__Output>): grpc.ClientUnaryCall;
  /**
   * Settle for 1 to 50 requests at once, as ReserveMany does it.
   */
  settleMany(argument: _tollkeeper_enforcer_v1_SettleManyRequest, metadata: grpc.Metadata, options: grpc.CallOptions, callback: grpc.requestCallback<_tollkeeper_enforcer_v1_SettleManyResponse__Output>): grpc.ClientUnaryCall;
  settleMany(argument: _tollkeeper_enforcer_v1_SettleManyRequest, metadata: grpc.Metadata, callback: grpc.requestCallback<_tollkeeper_enforcer_v1_SettleManyResponse__Output>): grpc.ClientUnaryCall;
  settleMany(argument: _tollkeeper_enforcer_v1_SettleManyRequest, options: grpc.CallOptions, callback: grpc.requestCallback<_tollkeeper_enforcer_v1_SettleManyResponse__Output>): grpc.ClientUnaryCall;
  settleMany(argument: _tollkeeper_enforcer_v1_SettleManyRequest, callback: grpc.requestCallback<_tollkeeper_enforcer_v1_SettleManyResponse__Output>): grpc.ClientUnaryCall;
  
}

/**
 * What a gateway asks before a call, and says after it.
 * 
 * Every RPC takes a workspace key of the role developer or admin, as the metadata `authorization: Bearer ws_live_…`.
 * The workspace is the one of the key. A request has at most 320 KiB.
 * 
 * Every RPC is safe to repeat, and unary but for ReserveStream. Errors common to all of them: UNAUTHENTICATED for no
 * key, and for one that is unknown or revoked; PERMISSION_DENIED for a read_only key; RESOURCE_EXHAUSTED when the
 * workspace makes more calls a second than it may; INVALID_ARGUMENT names the fields that are wrong; UNAVAILABLE within
 * a second while nothing can be decided. After UNAVAILABLE, nothing or everything was done: a repeated call tells.
 * 
 * The trailing metadata `tollkeeper-error-bin` of an error is JSON in UTF-8: `code` is the stable code that the HTTP
 * API answers too, `details` lists the fields that are wrong, `retryAfterSeconds` says when to try again. A request
 * that is too large is RESOURCE_EXHAUSTED without it, and is not to be repeated. The trailing metadata `x-request-id`
 * is the id of the request, as in the logs.
 */
export interface EnforcerServiceHandlers extends grpc.UntypedServiceImplementation {
  /**
   * Holds a reservation for longer, counted from now on. ALREADY_EXISTS (`conflict`) unless it is held.
   */
  Extend: grpc.handleUnaryCall<_tollkeeper_enforcer_v1_ExtendRequest__Output, _tollkeeper_enforcer_v1_ExtendResponse>;
  
  /**
   * Answers a reservation. NOT_FOUND when the workspace has none with that id, also for one older than three days.
   */
  GetReservation: grpc.handleUnaryCall<_tollkeeper_enforcer_v1_GetReservationRequest__Output, _tollkeeper_enforcer_v1_GetReservationResponse>;
  
  /**
   * Says that the call has cost nothing, which frees what was held. Releasing again changes nothing, nor does releasing
   * what has expired. ALREADY_EXISTS (`conflict`) when the reservation was settled.
   */
  Release: grpc.handleUnaryCall<_tollkeeper_enforcer_v1_ReleaseRequest__Output, _tollkeeper_enforcer_v1_ReleaseResponse>;
  
  /**
   * Release for 1 to 50 requests at once, as ReserveMany does it.
   */
  ReleaseMany: grpc.handleUnaryCall<_tollkeeper_enforcer_v1_ReleaseManyRequest__Output, _tollkeeper_enforcer_v1_ReleaseManyResponse>;
  
  /**
   * Asks whether a call may spend, and holds the amount if it may. A denial is an answer, not an error. Nothing is
   * allowed that is not durable.
   * 
   * Make the call only while `reservation.state` is RESERVATION_STATE_HELD: for 24 hours, a repeated request that was
   * granted answers its reservation as it is then. A request that was denied is decided anew. The `request_id` of a
   * reservation with another content, or later, is ALREADY_EXISTS (`request_id_reused`). INVALID_ARGUMENT for a plan
   * that is unknown or not active. RESOURCE_EXHAUSTED when the workspace has too many open reservations. An agent that
   * was never seen is registered. PERMISSION_DENIED (`label_pinned`) when the request has another value for a label
   * than its workspace key.
   */
  Reserve: grpc.handleUnaryCall<_tollkeeper_enforcer_v1_ReserveRequest__Output, _tollkeeper_enforcer_v1_ReserveResponse>;
  
  /**
   * Reserve for 1 to 50 requests at once, which cost the transport once: for gateways that have many calls under way at
   * the same moment. `results` has one result for each request, in their order. Each request is answered, refused and
   * repeated as if it had come alone, also one that is in the batch twice. So a batch that got no answer is sent again
   * as it was, or in other parts.
   * 
   * The requests are decided together, and the batch is answered when all of them are, within a second. One that takes
   * longer than that has the error `service_unavailable`. The quota of the workspace counts each request. The batch as
   * a whole fails for its key and its quota, and for more than 50 requests or none: then nothing was done.
   */
  ReserveMany: grpc.handleUnaryCall<_tollkeeper_enforcer_v1_ReserveManyRequest__Output, _tollkeeper_enforcer_v1_ReserveManyResponse>;
  
  /**
   * Reserve, Settle and Release for many calls of a gateway over one stream, at the lowest cost for each. Send each
   * call when it comes; calls that come at the same moment may share a message. Each is answered as soon as it is
   * decided, in any order and within a second, and is refused and repeated as if it had come by its own RPC. Its
   * error is in its answer. `tag` says which request an answer is for. The quota of the workspace counts each
   * request, and a key that is revoked is refused as soon as by single calls.
   * 
   * The server ends a stream with OK after 20 seconds, and when it stops. It answers first what it has read: repeat
   * the other requests on a new stream with the same ids, and do the same after UNAVAILABLE. Of a stream, 200
   * requests are in progress at a time; the server reads no more until they are answered. The stream as a whole fails
   * for its key, and for a message that is too large or has more than 50 requests or none.
   * 
   * Servers of release 0.1.0 answer UNIMPLEMENTED. Make single calls then.
   */
  ReserveStream: grpc.handleBidiStreamingCall<_tollkeeper_enforcer_v1_ReserveStreamRequest__Output, _tollkeeper_enforcer_v1_ReserveStreamResponse>;
  
  /**
   * Says what the call has cost. It is never refused for its amount, nor made smaller: the money is spent. The spend is
   * in the event log before the answer, as a `spend.settled` event. A reservation that has expired can be settled too.
   * 
   * Settling again with the same `settlement_id` changes nothing: the first amount stays. With another one, or when the
   * reservation was released, it is ALREADY_EXISTS (`conflict`), and NOT_FOUND when it is unknown or older than three
   * days. What was spent all the same is reported as a `spend.settled` event.
   */
  Settle: grpc.handleUnaryCall<_tollkeeper_enforcer_v1_SettleRequest__Output, _tollkeeper_enforcer_v1_SettleResponse>;
  
  /**
   * Settle for 1 to 50 requests at once, as ReserveMany does it.
   */
  SettleMany: grpc.handleUnaryCall<_tollkeeper_enforcer_v1_SettleManyRequest__Output, _tollkeeper_enforcer_v1_SettleManyResponse>;
  
}

export interface EnforcerServiceDefinition extends grpc.ServiceDefinition {
  Extend: MethodDefinition<_tollkeeper_enforcer_v1_ExtendRequest, _tollkeeper_enforcer_v1_ExtendResponse, _tollkeeper_enforcer_v1_ExtendRequest__Output, _tollkeeper_enforcer_v1_ExtendResponse__Output>
  GetReservation: MethodDefinition<_tollkeeper_enforcer_v1_GetReservationRequest, _tollkeeper_enforcer_v1_GetReservationResponse, _tollkeeper_enforcer_v1_GetReservationRequest__Output, _tollkeeper_enforcer_v1_GetReservationResponse__Output>
  Release: MethodDefinition<_tollkeeper_enforcer_v1_ReleaseRequest, _tollkeeper_enforcer_v1_ReleaseResponse, _tollkeeper_enforcer_v1_ReleaseRequest__Output, _tollkeeper_enforcer_v1_ReleaseResponse__Output>
  ReleaseMany: MethodDefinition<_tollkeeper_enforcer_v1_ReleaseManyRequest, _tollkeeper_enforcer_v1_ReleaseManyResponse, _tollkeeper_enforcer_v1_ReleaseManyRequest__Output, _tollkeeper_enforcer_v1_ReleaseManyResponse__Output>
  Reserve: MethodDefinition<_tollkeeper_enforcer_v1_ReserveRequest, _tollkeeper_enforcer_v1_ReserveResponse, _tollkeeper_enforcer_v1_ReserveRequest__Output, _tollkeeper_enforcer_v1_ReserveResponse__Output>
  ReserveMany: MethodDefinition<_tollkeeper_enforcer_v1_ReserveManyRequest, _tollkeeper_enforcer_v1_ReserveManyResponse, _tollkeeper_enforcer_v1_ReserveManyRequest__Output, _tollkeeper_enforcer_v1_ReserveManyResponse__Output>
  ReserveStream: MethodDefinition<_tollkeeper_enforcer_v1_ReserveStreamRequest, _tollkeeper_enforcer_v1_ReserveStreamResponse, _tollkeeper_enforcer_v1_ReserveStreamRequest__Output, _tollkeeper_enforcer_v1_ReserveStreamResponse__Output>
  Settle: MethodDefinition<_tollkeeper_enforcer_v1_SettleRequest, _tollkeeper_enforcer_v1_SettleResponse, _tollkeeper_enforcer_v1_SettleRequest__Output, _tollkeeper_enforcer_v1_SettleResponse__Output>
  SettleMany: MethodDefinition<_tollkeeper_enforcer_v1_SettleManyRequest, _tollkeeper_enforcer_v1_SettleManyResponse, _tollkeeper_enforcer_v1_SettleManyRequest__Output, _tollkeeper_enforcer_v1_SettleManyResponse__Output>
}
