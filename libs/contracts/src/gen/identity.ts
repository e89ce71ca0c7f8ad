import type * as grpc from '@grpc/grpc-js';
import type { EnumTypeDefinition, MessageTypeDefinition } from '@grpc/proto-loader';

import type { Agent as _tollkeeper_identity_v1_Agent, Agent__Output as _tollkeeper_identity_v1_Agent__Output } from './tollkeeper/identity/v1/Agent.ts';
import type { GetAgentsRequest as _tollkeeper_identity_v1_GetAgentsRequest, GetAgentsRequest__Output as _tollkeeper_identity_v1_GetAgentsRequest__Output } from './tollkeeper/identity/v1/GetAgentsRequest.ts';
import type { GetAgentsResponse as _tollkeeper_identity_v1_GetAgentsResponse, GetAgentsResponse__Output as _tollkeeper_identity_v1_GetAgentsResponse__Output } from './tollkeeper/identity/v1/GetAgentsResponse.ts';
import type { GetWorkspaceRequest as _tollkeeper_identity_v1_GetWorkspaceRequest, GetWorkspaceRequest__Output as _tollkeeper_identity_v1_GetWorkspaceRequest__Output } from './tollkeeper/identity/v1/GetWorkspaceRequest.ts';
import type { GetWorkspaceResponse as _tollkeeper_identity_v1_GetWorkspaceResponse, GetWorkspaceResponse__Output as _tollkeeper_identity_v1_GetWorkspaceResponse__Output } from './tollkeeper/identity/v1/GetWorkspaceResponse.ts';
import type { IdentityServiceClient as _tollkeeper_identity_v1_IdentityServiceClient, IdentityServiceDefinition as _tollkeeper_identity_v1_IdentityServiceDefinition } from './tollkeeper/identity/v1/IdentityService.ts';
import type { Membership as _tollkeeper_identity_v1_Membership, Membership__Output as _tollkeeper_identity_v1_Membership__Output } from './tollkeeper/identity/v1/Membership.ts';
import type { RegisterAgentsRequest as _tollkeeper_identity_v1_RegisterAgentsRequest, RegisterAgentsRequest__Output as _tollkeeper_identity_v1_RegisterAgentsRequest__Output } from './tollkeeper/identity/v1/RegisterAgentsRequest.ts';
import type { RegisterAgentsResponse as _tollkeeper_identity_v1_RegisterAgentsResponse, RegisterAgentsResponse__Output as _tollkeeper_identity_v1_RegisterAgentsResponse__Output } from './tollkeeper/identity/v1/RegisterAgentsResponse.ts';
import type { ResolveSessionRequest as _tollkeeper_identity_v1_ResolveSessionRequest, ResolveSessionRequest__Output as _tollkeeper_identity_v1_ResolveSessionRequest__Output } from './tollkeeper/identity/v1/ResolveSessionRequest.ts';
import type { ResolveSessionResponse as _tollkeeper_identity_v1_ResolveSessionResponse, ResolveSessionResponse__Output as _tollkeeper_identity_v1_ResolveSessionResponse__Output } from './tollkeeper/identity/v1/ResolveSessionResponse.ts';
import type { Session as _tollkeeper_identity_v1_Session, Session__Output as _tollkeeper_identity_v1_Session__Output } from './tollkeeper/identity/v1/Session.ts';
import type { Workspace as _tollkeeper_identity_v1_Workspace, Workspace__Output as _tollkeeper_identity_v1_Workspace__Output } from './tollkeeper/identity/v1/Workspace.ts';

type SubtypeConstructor<Constructor extends new (...args: any) => any, Subtype> = {
  new(...args: ConstructorParameters<Constructor>): Subtype;
};

export interface ProtoGrpcType {
  tollkeeper: {
    identity: {
      v1: {
        Agent: MessageTypeDefinition<_tollkeeper_identity_v1_Agent, _tollkeeper_identity_v1_Agent__Output>
        GetAgentsRequest: MessageTypeDefinition<_tollkeeper_identity_v1_GetAgentsRequest, _tollkeeper_identity_v1_GetAgentsRequest__Output>
        GetAgentsResponse: MessageTypeDefinition<_tollkeeper_identity_v1_GetAgentsResponse, _tollkeeper_identity_v1_GetAgentsResponse__Output>
        GetWorkspaceRequest: MessageTypeDefinition<_tollkeeper_identity_v1_GetWorkspaceRequest, _tollkeeper_identity_v1_GetWorkspaceRequest__Output>
        GetWorkspaceResponse: MessageTypeDefinition<_tollkeeper_identity_v1_GetWorkspaceResponse, _tollkeeper_identity_v1_GetWorkspaceResponse__Output>
        /**
         * Every RPC is unary and safe to repeat. Errors common to all of them: INVALID_ARGUMENT names the field that is
         * wrong; UNAVAILABLE means that the service can't be reached just now, and a retry makes sense.
         */
        IdentityService: SubtypeConstructor<typeof grpc.Client, _tollkeeper_identity_v1_IdentityServiceClient> & { service: _tollkeeper_identity_v1_IdentityServiceDefinition }
        Membership: MessageTypeDefinition<_tollkeeper_identity_v1_Membership, _tollkeeper_identity_v1_Membership__Output>
        RegisterAgentsRequest: MessageTypeDefinition<_tollkeeper_identity_v1_RegisterAgentsRequest, _tollkeeper_identity_v1_RegisterAgentsRequest__Output>
        RegisterAgentsResponse: MessageTypeDefinition<_tollkeeper_identity_v1_RegisterAgentsResponse, _tollkeeper_identity_v1_RegisterAgentsResponse__Output>
        ResolveSessionRequest: MessageTypeDefinition<_tollkeeper_identity_v1_ResolveSessionRequest, _tollkeeper_identity_v1_ResolveSessionRequest__Output>
        ResolveSessionResponse: MessageTypeDefinition<_tollkeeper_identity_v1_ResolveSessionResponse, _tollkeeper_identity_v1_ResolveSessionResponse__Output>
        Session: MessageTypeDefinition<_tollkeeper_identity_v1_Session, _tollkeeper_identity_v1_Session__Output>
        Workspace: MessageTypeDefinition<_tollkeeper_identity_v1_Workspace, _tollkeeper_identity_v1_Workspace__Output>
        WorkspaceRole: EnumTypeDefinition
      }
    }
  }
}

