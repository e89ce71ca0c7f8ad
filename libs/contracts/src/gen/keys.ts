import type * as grpc from '@grpc/grpc-js';
import type { EnumTypeDefinition, MessageTypeDefinition } from '@grpc/proto-loader';

import type { KeysServiceClient as _tollkeeper_keys_v1_KeysServiceClient, KeysServiceDefinition as _tollkeeper_keys_v1_KeysServiceDefinition } from './tollkeeper/keys/v1/KeysService.ts';
import type { VerifyKeyRequest as _tollkeeper_keys_v1_VerifyKeyRequest, VerifyKeyRequest__Output as _tollkeeper_keys_v1_VerifyKeyRequest__Output } from './tollkeeper/keys/v1/VerifyKeyRequest.ts';
import type { VerifyKeyResponse as _tollkeeper_keys_v1_VerifyKeyResponse, VerifyKeyResponse__Output as _tollkeeper_keys_v1_VerifyKeyResponse__Output } from './tollkeeper/keys/v1/VerifyKeyResponse.ts';

type SubtypeConstructor<Constructor extends new (...args: any) => any, Subtype> = {
  new(...args: ConstructorParameters<Constructor>): Subtype;
};

export interface ProtoGrpcType {
  tollkeeper: {
    keys: {
      v1: {
        KeyRole: EnumTypeDefinition
        /**
         * The check behind every call that is made with a workspace key.
         */
        KeysService: SubtypeConstructor<typeof grpc.Client, _tollkeeper_keys_v1_KeysServiceClient> & { service: _tollkeeper_keys_v1_KeysServiceDefinition }
        VerifyKeyRequest: MessageTypeDefinition<_tollkeeper_keys_v1_VerifyKeyRequest, _tollkeeper_keys_v1_VerifyKeyRequest__Output>
        VerifyKeyResponse: MessageTypeDefinition<_tollkeeper_keys_v1_VerifyKeyResponse, _tollkeeper_keys_v1_VerifyKeyResponse__Output>
      }
    }
  }
}

