import type * as grpc from '@grpc/grpc-js';
import type { EnumTypeDefinition, MessageTypeDefinition } from '@grpc/proto-loader';

import type { Timestamp as _google_protobuf_Timestamp, Timestamp__Output as _google_protobuf_Timestamp__Output } from './google/protobuf/Timestamp.ts';
import type { BudgetRisk as _tollkeeper_enforcer_v1_BudgetRisk, BudgetRisk__Output as _tollkeeper_enforcer_v1_BudgetRisk__Output } from './tollkeeper/enforcer/v1/BudgetRisk.ts';
import type { Denial as _tollkeeper_enforcer_v1_Denial, Denial__Output as _tollkeeper_enforcer_v1_Denial__Output } from './tollkeeper/enforcer/v1/Denial.ts';
import type { EnforcerServiceClient as _tollkeeper_enforcer_v1_EnforcerServiceClient, EnforcerServiceDefinition as _tollkeeper_enforcer_v1_EnforcerServiceDefinition } from './tollkeeper/enforcer/v1/EnforcerService.ts';
import type { ExtendRequest as _tollkeeper_enforcer_v1_ExtendRequest, ExtendRequest__Output as _tollkeeper_enforcer_v1_ExtendRequest__Output } from './tollkeeper/enforcer/v1/ExtendRequest.ts';
import type { ExtendResponse as _tollkeeper_enforcer_v1_ExtendResponse, ExtendResponse__Output as _tollkeeper_enforcer_v1_ExtendResponse__Output } from './tollkeeper/enforcer/v1/ExtendResponse.ts';
import type { FieldProblem as _tollkeeper_enforcer_v1_FieldProblem, FieldProblem__Output as _tollkeeper_enforcer_v1_FieldProblem__Output } from './tollkeeper/enforcer/v1/FieldProblem.ts';
import type { GetLeaseRequest as _tollkeeper_enforcer_v1_GetLeaseRequest, GetLeaseRequest__Output as _tollkeeper_enforcer_v1_GetLeaseRequest__Output } from './tollkeeper/enforcer/v1/GetLeaseRequest.ts';
import type { GetLeaseResponse as _tollkeeper_enforcer_v1_GetLeaseResponse, GetLeaseResponse__Output as _tollkeeper_enforcer_v1_GetLeaseResponse__Output } from './tollkeeper/enforcer/v1/GetLeaseResponse.ts';
import type { GetReservationRequest as _tollkeeper_enforcer_v1_GetReservationRequest, GetReservationRequest__Output as _tollkeeper_enforcer_v1_GetReservationRequest__Output } from './tollkeeper/enforcer/v1/GetReservationRequest.ts';
import type { GetReservationResponse as _tollkeeper_enforcer_v1_GetReservationResponse, GetReservationResponse__Output as _tollkeeper_enforcer_v1_GetReservationResponse__Output } from './tollkeeper/enforcer/v1/GetReservationResponse.ts';
import type { Grant as _tollkeeper_enforcer_v1_Grant, Grant__Output as _tollkeeper_enforcer_v1_Grant__Output } from './tollkeeper/enforcer/v1/Grant.ts';
import type { GrantLeaseRequest as _tollkeeper_enforcer_v1_GrantLeaseRequest, GrantLeaseRequest__Output as _tollkeeper_enforcer_v1_GrantLeaseRequest__Output } from './tollkeeper/enforcer/v1/GrantLeaseRequest.ts';
import type { GrantLeaseResponse as _tollkeeper_enforcer_v1_GrantLeaseResponse, GrantLeaseResponse__Output as _tollkeeper_enforcer_v1_GrantLeaseResponse__Output } from './tollkeeper/enforcer/v1/GrantLeaseResponse.ts';
import type { Lease as _tollkeeper_enforcer_v1_Lease, Lease__Output as _tollkeeper_enforcer_v1_Lease__Output } from './tollkeeper/enforcer/v1/Lease.ts';
import type { LeaseServiceClient as _tollkeeper_enforcer_v1_LeaseServiceClient, LeaseServiceDefinition as _tollkeeper_enforcer_v1_LeaseServiceDefinition } from './tollkeeper/enforcer/v1/LeaseService.ts';
import type { LeaseSettlement as _tollkeeper_enforcer_v1_LeaseSettlement, LeaseSettlement__Output as _tollkeeper_enforcer_v1_LeaseSettlement__Output } from './tollkeeper/enforcer/v1/LeaseSettlement.ts';
import type { LeaseSettlementResult as _tollkeeper_enforcer_v1_LeaseSettlementResult, LeaseSettlementResult__Output as _tollkeeper_enforcer_v1_LeaseSettlementResult__Output } from './tollkeeper/enforcer/v1/LeaseSettlementResult.ts';
import type { LimitPeriod as _tollkeeper_enforcer_v1_LimitPeriod, LimitPeriod__Output as _tollkeeper_enforcer_v1_LimitPeriod__Output } from './tollkeeper/enforcer/v1/LimitPeriod.ts';
import type { LimitStatus as _tollkeeper_enforcer_v1_LimitStatus, LimitStatus__Output as _tollkeeper_enforcer_v1_LimitStatus__Output } from './tollkeeper/enforcer/v1/LimitStatus.ts';
import type { LimitsServiceClient as _tollkeeper_enforcer_v1_LimitsServiceClient, LimitsServiceDefinition as _tollkeeper_enforcer_v1_LimitsServiceDefinition } from './tollkeeper/enforcer/v1/LimitsService.ts';
import type { ListBudgetsByRiskRequest as _tollkeeper_enforcer_v1_ListBudgetsByRiskRequest, ListBudgetsByRiskRequest__Output as _tollkeeper_enforcer_v1_ListBudgetsByRiskRequest__Output } from './tollkeeper/enforcer/v1/ListBudgetsByRiskRequest.ts';
import type { ListBudgetsByRiskResponse as _tollkeeper_enforcer_v1_ListBudgetsByRiskResponse, ListBudgetsByRiskResponse__Output as _tollkeeper_enforcer_v1_ListBudgetsByRiskResponse__Output } from './tollkeeper/enforcer/v1/ListBudgetsByRiskResponse.ts';
import type { ReleaseManyRequest as _tollkeeper_enforcer_v1_ReleaseManyRequest, ReleaseManyRequest__Output as _tollkeeper_enforcer_v1_ReleaseManyRequest__Output } from './tollkeeper/enforcer/v1/ReleaseManyRequest.ts';
import type { ReleaseManyResponse as _tollkeeper_enforcer_v1_ReleaseManyResponse, ReleaseManyResponse__Output as _tollkeeper_enforcer_v1_ReleaseManyResponse__Output } from './tollkeeper/enforcer/v1/ReleaseManyResponse.ts';
import type { ReleaseRequest as _tollkeeper_enforcer_v1_ReleaseRequest, ReleaseRequest__Output as _tollkeeper_enforcer_v1_ReleaseRequest__Output } from './tollkeeper/enforcer/v1/ReleaseRequest.ts';
import type { ReleaseResponse as _tollkeeper_enforcer_v1_ReleaseResponse, ReleaseResponse__Output as _tollkeeper_enforcer_v1_ReleaseResponse__Output } from './tollkeeper/enforcer/v1/ReleaseResponse.ts';
import type { RenewLeaseRequest as _tollkeeper_enforcer_v1_RenewLeaseRequest, RenewLeaseRequest__Output as _tollkeeper_enforcer_v1_RenewLeaseRequest__Output } from './tollkeeper/enforcer/v1/RenewLeaseRequest.ts';
import type { RenewLeaseResponse as _tollkeeper_enforcer_v1_RenewLeaseResponse, RenewLeaseResponse__Output as _tollkeeper_enforcer_v1_RenewLeaseResponse__Output } from './tollkeeper/enforcer/v1/RenewLeaseResponse.ts';
import type { RequestError as _tollkeeper_enforcer_v1_RequestError, RequestError__Output as _tollkeeper_enforcer_v1_RequestError__Output } from './tollkeeper/enforcer/v1/RequestError.ts';
import type { Reservation as _tollkeeper_enforcer_v1_Reservation, Reservation__Output as _tollkeeper_enforcer_v1_Reservation__Output } from './tollkeeper/enforcer/v1/Reservation.ts';
import type { ReservationResult as _tollkeeper_enforcer_v1_ReservationResult, ReservationResult__Output as _tollkeeper_enforcer_v1_ReservationResult__Output } from './tollkeeper/enforcer/v1/ReservationResult.ts';
import type { ReserveManyRequest as _tollkeeper_enforcer_v1_ReserveManyRequest, ReserveManyRequest__Output as _tollkeeper_enforcer_v1_ReserveManyRequest__Output } from './tollkeeper/enforcer/v1/ReserveManyRequest.ts';
import type { ReserveManyResponse as _tollkeeper_enforcer_v1_ReserveManyResponse, ReserveManyResponse__Output as _tollkeeper_enforcer_v1_ReserveManyResponse__Output } from './tollkeeper/enforcer/v1/ReserveManyResponse.ts';
import type { ReserveRequest as _tollkeeper_enforcer_v1_ReserveRequest, ReserveRequest__Output as _tollkeeper_enforcer_v1_ReserveRequest__Output } from './tollkeeper/enforcer/v1/ReserveRequest.ts';
import type { ReserveResponse as _tollkeeper_enforcer_v1_ReserveResponse, ReserveResponse__Output as _tollkeeper_enforcer_v1_ReserveResponse__Output } from './tollkeeper/enforcer/v1/ReserveResponse.ts';
import type { ReserveResult as _tollkeeper_enforcer_v1_ReserveResult, ReserveResult__Output as _tollkeeper_enforcer_v1_ReserveResult__Output } from './tollkeeper/enforcer/v1/ReserveResult.ts';
import type { ReserveStreamRequest as _tollkeeper_enforcer_v1_ReserveStreamRequest, ReserveStreamRequest__Output as _tollkeeper_enforcer_v1_ReserveStreamRequest__Output } from './tollkeeper/enforcer/v1/ReserveStreamRequest.ts';
import type { ReserveStreamResponse as _tollkeeper_enforcer_v1_ReserveStreamResponse, ReserveStreamResponse__Output as _tollkeeper_enforcer_v1_ReserveStreamResponse__Output } from './tollkeeper/enforcer/v1/ReserveStreamResponse.ts';
import type { ReturnLeaseRequest as _tollkeeper_enforcer_v1_ReturnLeaseRequest, ReturnLeaseRequest__Output as _tollkeeper_enforcer_v1_ReturnLeaseRequest__Output } from './tollkeeper/enforcer/v1/ReturnLeaseRequest.ts';
import type { ReturnLeaseResponse as _tollkeeper_enforcer_v1_ReturnLeaseResponse, ReturnLeaseResponse__Output as _tollkeeper_enforcer_v1_ReturnLeaseResponse__Output } from './tollkeeper/enforcer/v1/ReturnLeaseResponse.ts';
import type { SettleLeaseRequest as _tollkeeper_enforcer_v1_SettleLeaseRequest, SettleLeaseRequest__Output as _tollkeeper_enforcer_v1_SettleLeaseRequest__Output } from './tollkeeper/enforcer/v1/SettleLeaseRequest.ts';
import type { SettleLeaseResponse as _tollkeeper_enforcer_v1_SettleLeaseResponse, SettleLeaseResponse__Output as _tollkeeper_enforcer_v1_SettleLeaseResponse__Output } from './tollkeeper/enforcer/v1/SettleLeaseResponse.ts';
import type { SettleManyRequest as _tollkeeper_enforcer_v1_SettleManyRequest, SettleManyRequest__Output as _tollkeeper_enforcer_v1_SettleManyRequest__Output } from './tollkeeper/enforcer/v1/SettleManyRequest.ts';
import type { SettleManyResponse as _tollkeeper_enforcer_v1_SettleManyResponse, SettleManyResponse__Output as _tollkeeper_enforcer_v1_SettleManyResponse__Output } from './tollkeeper/enforcer/v1/SettleManyResponse.ts';
import type { SettleRequest as _tollkeeper_enforcer_v1_SettleRequest, SettleRequest__Output as _tollkeeper_enforcer_v1_SettleRequest__Output } from './tollkeeper/enforcer/v1/SettleRequest.ts';
import type { SettleResponse as _tollkeeper_enforcer_v1_SettleResponse, SettleResponse__Output as _tollkeeper_enforcer_v1_SettleResponse__Output } from './tollkeeper/enforcer/v1/SettleResponse.ts';
import type { StreamedAnswer as _tollkeeper_enforcer_v1_StreamedAnswer, StreamedAnswer__Output as _tollkeeper_enforcer_v1_StreamedAnswer__Output } from './tollkeeper/enforcer/v1/StreamedAnswer.ts';
import type { StreamedRequest as _tollkeeper_enforcer_v1_StreamedRequest, StreamedRequest__Output as _tollkeeper_enforcer_v1_StreamedRequest__Output } from './tollkeeper/enforcer/v1/StreamedRequest.ts';

type SubtypeConstructor<Constructor extends new (...args: any) => any, Subtype> = {
  new(...args: ConstructorParameters<Constructor>): Subtype;
};

export interface ProtoGrpcType {
  google: {
    protobuf: {
      Timestamp: MessageTypeDefinition<_google_protobuf_Timestamp, _google_protobuf_Timestamp__Output>
    }
  }
  tollkeeper: {
    enforcer: {
      v1: {
        BudgetRisk: MessageTypeDefinition<_tollkeeper_enforcer_v1_BudgetRisk, _tollkeeper_enforcer_v1_BudgetRisk__Output>
        Denial: MessageTypeDefinition<_tollkeeper_enforcer_v1_Denial, _tollkeeper_enforcer_v1_Denial__Output>
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
        EnforcerService: SubtypeConstructor<typeof grpc.Client, _tollkeeper_enforcer_v1_EnforcerServiceClient> & { service: _tollkeeper_enforcer_v1_EnforcerServiceDefinition }
        ExtendRequest: MessageTypeDefinition<_tollkeeper_enforcer_v1_ExtendRequest, _tollkeeper_enforcer_v1_ExtendRequest__Output>
        ExtendResponse: MessageTypeDefinition<_tollkeeper_enforcer_v1_ExtendResponse, _tollkeeper_enforcer_v1_ExtendResponse__Output>
        FieldProblem: MessageTypeDefinition<_tollkeeper_enforcer_v1_FieldProblem, _tollkeeper_enforcer_v1_FieldProblem__Output>
        GetLeaseRequest: MessageTypeDefinition<_tollkeeper_enforcer_v1_GetLeaseRequest, _tollkeeper_enforcer_v1_GetLeaseRequest__Output>
        GetLeaseResponse: MessageTypeDefinition<_tollkeeper_enforcer_v1_GetLeaseResponse, _tollkeeper_enforcer_v1_GetLeaseResponse__Output>
        GetReservationRequest: MessageTypeDefinition<_tollkeeper_enforcer_v1_GetReservationRequest, _tollkeeper_enforcer_v1_GetReservationRequest__Output>
        GetReservationResponse: MessageTypeDefinition<_tollkeeper_enforcer_v1_GetReservationResponse, _tollkeeper_enforcer_v1_GetReservationResponse__Output>
        Grant: MessageTypeDefinition<_tollkeeper_enforcer_v1_Grant, _tollkeeper_enforcer_v1_Grant__Output>
        GrantLeaseRequest: MessageTypeDefinition<_tollkeeper_enforcer_v1_GrantLeaseRequest, _tollkeeper_enforcer_v1_GrantLeaseRequest__Output>
        GrantLeaseResponse: MessageTypeDefinition<_tollkeeper_enforcer_v1_GrantLeaseResponse, _tollkeeper_enforcer_v1_GrantLeaseResponse__Output>
        Lease: MessageTypeDefinition<_tollkeeper_enforcer_v1_Lease, _tollkeeper_enforcer_v1_Lease__Output>
        /**
         * Leases: amounts that a gateway holds once and decides from in its own memory, for many calls of an agent. The calls
         * are those of `/api/v1/leases` over HTTP.
         * 
         * Keys, errors, quotas and repeats are those of EnforcerService. A request has at most 320 KiB.
         */
        LeaseService: SubtypeConstructor<typeof grpc.Client, _tollkeeper_enforcer_v1_LeaseServiceClient> & { service: _tollkeeper_enforcer_v1_LeaseServiceDefinition }
        LeaseSettlement: MessageTypeDefinition<_tollkeeper_enforcer_v1_LeaseSettlement, _tollkeeper_enforcer_v1_LeaseSettlement__Output>
        LeaseSettlementOutcome: EnumTypeDefinition
        LeaseSettlementResult: MessageTypeDefinition<_tollkeeper_enforcer_v1_LeaseSettlementResult, _tollkeeper_enforcer_v1_LeaseSettlementResult__Output>
        LeaseState: EnumTypeDefinition
        LimitPeriod: MessageTypeDefinition<_tollkeeper_enforcer_v1_LimitPeriod, _tollkeeper_enforcer_v1_LimitPeriod__Output>
        LimitScope: EnumTypeDefinition
        LimitStatus: MessageTypeDefinition<_tollkeeper_enforcer_v1_LimitStatus, _tollkeeper_enforcer_v1_LimitStatus__Output>
        /**
         * What services that show budgets ask. Every RPC takes the token of a service, and no workspace key.
         */
        LimitsService: SubtypeConstructor<typeof grpc.Client, _tollkeeper_enforcer_v1_LimitsServiceClient> & { service: _tollkeeper_enforcer_v1_LimitsServiceDefinition }
        ListBudgetsByRiskRequest: MessageTypeDefinition<_tollkeeper_enforcer_v1_ListBudgetsByRiskRequest, _tollkeeper_enforcer_v1_ListBudgetsByRiskRequest__Output>
        ListBudgetsByRiskResponse: MessageTypeDefinition<_tollkeeper_enforcer_v1_ListBudgetsByRiskResponse, _tollkeeper_enforcer_v1_ListBudgetsByRiskResponse__Output>
        ReleaseManyRequest: MessageTypeDefinition<_tollkeeper_enforcer_v1_ReleaseManyRequest, _tollkeeper_enforcer_v1_ReleaseManyRequest__Output>
        ReleaseManyResponse: MessageTypeDefinition<_tollkeeper_enforcer_v1_ReleaseManyResponse, _tollkeeper_enforcer_v1_ReleaseManyResponse__Output>
        ReleaseRequest: MessageTypeDefinition<_tollkeeper_enforcer_v1_ReleaseRequest, _tollkeeper_enforcer_v1_ReleaseRequest__Output>
        ReleaseResponse: MessageTypeDefinition<_tollkeeper_enforcer_v1_ReleaseResponse, _tollkeeper_enforcer_v1_ReleaseResponse__Output>
        RenewLeaseRequest: MessageTypeDefinition<_tollkeeper_enforcer_v1_RenewLeaseRequest, _tollkeeper_enforcer_v1_RenewLeaseRequest__Output>
        RenewLeaseResponse: MessageTypeDefinition<_tollkeeper_enforcer_v1_RenewLeaseResponse, _tollkeeper_enforcer_v1_RenewLeaseResponse__Output>
        RequestError: MessageTypeDefinition<_tollkeeper_enforcer_v1_RequestError, _tollkeeper_enforcer_v1_RequestError__Output>
        Reservation: MessageTypeDefinition<_tollkeeper_enforcer_v1_Reservation, _tollkeeper_enforcer_v1_Reservation__Output>
        ReservationResult: MessageTypeDefinition<_tollkeeper_enforcer_v1_ReservationResult, _tollkeeper_enforcer_v1_ReservationResult__Output>
        ReservationState: EnumTypeDefinition
        ReserveManyRequest: MessageTypeDefinition<_tollkeeper_enforcer_v1_ReserveManyRequest, _tollkeeper_enforcer_v1_ReserveManyRequest__Output>
        ReserveManyResponse: MessageTypeDefinition<_tollkeeper_enforcer_v1_ReserveManyResponse, _tollkeeper_enforcer_v1_ReserveManyResponse__Output>
        ReserveRequest: MessageTypeDefinition<_tollkeeper_enforcer_v1_ReserveRequest, _tollkeeper_enforcer_v1_ReserveRequest__Output>
        ReserveResponse: MessageTypeDefinition<_tollkeeper_enforcer_v1_ReserveResponse, _tollkeeper_enforcer_v1_ReserveResponse__Output>
        ReserveResult: MessageTypeDefinition<_tollkeeper_enforcer_v1_ReserveResult, _tollkeeper_enforcer_v1_ReserveResult__Output>
        ReserveStreamRequest: MessageTypeDefinition<_tollkeeper_enforcer_v1_ReserveStreamRequest, _tollkeeper_enforcer_v1_ReserveStreamRequest__Output>
        ReserveStreamResponse: MessageTypeDefinition<_tollkeeper_enforcer_v1_ReserveStreamResponse, _tollkeeper_enforcer_v1_ReserveStreamResponse__Output>
        ReturnLeaseRequest: MessageTypeDefinition<_tollkeeper_enforcer_v1_ReturnLeaseRequest, _tollkeeper_enforcer_v1_ReturnLeaseRequest__Output>
        ReturnLeaseResponse: MessageTypeDefinition<_tollkeeper_enforcer_v1_ReturnLeaseResponse, _tollkeeper_enforcer_v1_ReturnLeaseResponse__Output>
        SettleLeaseRequest: MessageTypeDefinition<_tollkeeper_enforcer_v1_SettleLeaseRequest, _tollkeeper_enforcer_v1_SettleLeaseRequest__Output>
        SettleLeaseResponse: MessageTypeDefinition<_tollkeeper_enforcer_v1_SettleLeaseResponse, _tollkeeper_enforcer_v1_SettleLeaseResponse__Output>
        SettleManyRequest: MessageTypeDefinition<_tollkeeper_enforcer_v1_SettleManyRequest, _tollkeeper_enforcer_v1_SettleManyRequest__Output>
        SettleManyResponse: MessageTypeDefinition<_tollkeeper_enforcer_v1_SettleManyResponse, _tollkeeper_enforcer_v1_SettleManyResponse__Output>
        SettleRequest: MessageTypeDefinition<_tollkeeper_enforcer_v1_SettleRequest, _tollkeeper_enforcer_v1_SettleRequest__Output>
        SettleResponse: MessageTypeDefinition<_tollkeeper_enforcer_v1_SettleResponse, _tollkeeper_enforcer_v1_SettleResponse__Output>
        StreamedAnswer: MessageTypeDefinition<_tollkeeper_enforcer_v1_StreamedAnswer, _tollkeeper_enforcer_v1_StreamedAnswer__Output>
        StreamedRequest: MessageTypeDefinition<_tollkeeper_enforcer_v1_StreamedRequest, _tollkeeper_enforcer_v1_StreamedRequest__Output>
      }
    }
  }
}

