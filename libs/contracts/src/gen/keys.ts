import type * as grpc from '@grpc/grpc-js';
import type { EnumTypeDefinition, MessageTypeDefinition } from '@grpc/proto-loader';

import type { KeepReportRequest as _tollkeeper_keys_v1_KeepReportRequest, KeepReportRequest__Output as _tollkeeper_keys_v1_KeepReportRequest__Output } from './tollkeeper/keys/v1/KeepReportRequest.ts';
import type { KeepReportResponse as _tollkeeper_keys_v1_KeepReportResponse, KeepReportResponse__Output as _tollkeeper_keys_v1_KeepReportResponse__Output } from './tollkeeper/keys/v1/KeepReportResponse.ts';
import type { KeysServiceClient as _tollkeeper_keys_v1_KeysServiceClient, KeysServiceDefinition as _tollkeeper_keys_v1_KeysServiceDefinition } from './tollkeeper/keys/v1/KeysService.ts';
import type { NoCall as _tollkeeper_keys_v1_NoCall, NoCall__Output as _tollkeeper_keys_v1_NoCall__Output } from './tollkeeper/keys/v1/NoCall.ts';
import type { ReadFact as _tollkeeper_keys_v1_ReadFact, ReadFact__Output as _tollkeeper_keys_v1_ReadFact__Output } from './tollkeeper/keys/v1/ReadFact.ts';
import type { ReportMapping as _tollkeeper_keys_v1_ReportMapping, ReportMapping__Output as _tollkeeper_keys_v1_ReportMapping__Output } from './tollkeeper/keys/v1/ReportMapping.ts';
import type { ReportedCall as _tollkeeper_keys_v1_ReportedCall, ReportedCall__Output as _tollkeeper_keys_v1_ReportedCall__Output } from './tollkeeper/keys/v1/ReportedCall.ts';
import type { VerifyKeyRequest as _tollkeeper_keys_v1_VerifyKeyRequest, VerifyKeyRequest__Output as _tollkeeper_keys_v1_VerifyKeyRequest__Output } from './tollkeeper/keys/v1/VerifyKeyRequest.ts';
import type { VerifyKeyResponse as _tollkeeper_keys_v1_VerifyKeyResponse, VerifyKeyResponse__Output as _tollkeeper_keys_v1_VerifyKeyResponse__Output } from './tollkeeper/keys/v1/VerifyKeyResponse.ts';

type SubtypeConstructor<Constructor extends new (...args: any) => any, Subtype> = {
  new(...args: ConstructorParameters<Constructor>): Subtype;
};

export interface ProtoGrpcType {
  tollkeeper: {
    keys: {
      v1: {
        KeepReportRequest: MessageTypeDefinition<_tollkeeper_keys_v1_KeepReportRequest, _tollkeeper_keys_v1_KeepReportRequest__Output>
        KeepReportResponse: MessageTypeDefinition<_tollkeeper_keys_v1_KeepReportResponse, _tollkeeper_keys_v1_KeepReportResponse__Output>
        KeyRole: EnumTypeDefinition
        /**
         * The check behind every call that is made with a workspace key.
         */
        KeysService: SubtypeConstructor<typeof grpc.Client, _tollkeeper_keys_v1_KeysServiceClient> & { service: _tollkeeper_keys_v1_KeysServiceDefinition }
        NoCall: MessageTypeDefinition<_tollkeeper_keys_v1_NoCall, _tollkeeper_keys_v1_NoCall__Output>
        ReadFact: MessageTypeDefinition<_tollkeeper_keys_v1_ReadFact, _tollkeeper_keys_v1_ReadFact__Output>
        ReportMapping: MessageTypeDefinition<_tollkeeper_keys_v1_ReportMapping, _tollkeeper_keys_v1_ReportMapping__Output>
        ReportedCall: MessageTypeDefinition<_tollkeeper_keys_v1_ReportedCall, _tollkeeper_keys_v1_ReportedCall__Output>
        VerifyKeyRequest: MessageTypeDefinition<_tollkeeper_keys_v1_VerifyKeyRequest, _tollkeeper_keys_v1_VerifyKeyRequest__Output>
        VerifyKeyResponse: MessageTypeDefinition<_tollkeeper_keys_v1_VerifyKeyResponse, _tollkeeper_keys_v1_VerifyKeyResponse__Output>
      }
    }
  }
}

