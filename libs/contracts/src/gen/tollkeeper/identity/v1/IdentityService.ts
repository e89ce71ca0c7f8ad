// Original file: tollkeeper/identity/v1/identity.proto

import type * as grpc from '@grpc/grpc-js'
import type { MethodDefinition } from '@grpc/proto-loader'
import type { GetAgentsRequest as _tollkeeper_identity_v1_GetAgentsRequest, GetAgentsRequest__Output as _tollkeeper_identity_v1_GetAgentsRequest__Output } from '../../../tollkeeper/identity/v1/GetAgentsRequest.ts';
import type { GetAgentsResponse as _tollkeeper_identity_v1_GetAgentsResponse, GetAgentsResponse__Output as _tollkeeper_identity_v1_GetAgentsResponse__Output } from '../../../tollkeeper/identity/v1/GetAgentsResponse.ts';
import type { GetWorkspaceRequest as _tollkeeper_identity_v1_GetWorkspaceRequest, GetWorkspaceRequest__Output as _tollkeeper_identity_v1_GetWorkspaceRequest__Output } from '../../../tollkeeper/identity/v1/GetWorkspaceRequest.ts';
import type { GetWorkspaceResponse as _tollkeeper_identity_v1_GetWorkspaceResponse, GetWorkspaceResponse__Output as _tollkeeper_identity_v1_GetWorkspaceResponse__Output } from '../../../tollkeeper/identity/v1/GetWorkspaceResponse.ts';
import type { RegisterAgentsRequest as _tollkeeper_identity_v1_RegisterAgentsRequest, RegisterAgentsRequest__Output as _tollkeeper_identity_v1_RegisterAgentsRequest__Output } from '../../../tollkeeper/identity/v1/RegisterAgentsRequest.ts';
import type { RegisterAgentsResponse as _tollkeeper_identity_v1_RegisterAgentsResponse, RegisterAgentsResponse__Output as _tollkeeper_identity_v1_RegisterAgentsResponse__Output } from '../../../tollkeeper/identity/v1/RegisterAgentsResponse.ts';
import type { ResolveSessionRequest as _tollkeeper_identity_v1_ResolveSessionRequest, ResolveSessionRequest__Output as _tollkeeper_identity_v1_ResolveSessionRequest__Output } from '../../../tollkeeper/identity/v1/ResolveSessionRequest.ts';
import type { ResolveSessionResponse as _tollkeeper_identity_v1_ResolveSessionResponse, ResolveSessionResponse__Output as _tollkeeper_identity_v1_ResolveSessionResponse__Output } from '../../../tollkeeper/identity/v1/ResolveSessionResponse.ts';

/**
 * Every RPC is unary and safe to repeat. Errors common to all of them: INVALID_ARGUMENT names the field that is
 * wrong; UNAVAILABLE means that the service can't be reached just now, and a retry makes sense.
 */
export interface IdentityServiceClient extends grpc.Client {
  /**
   * Answers agents of one workspace, ordered by `agent_id`. Ids that the workspace does not have are left out
   * of the answer, so a caller that asks for one id learns whether it exists.
   */
  GetAgents(argument: _tollkeeper_identity_v1_GetAgentsRequest, metadata: grpc.Metadata, options: grpc.CallOptions, callback: grpc.requestCallback<_tollkeeper_identity_v1_GetAgentsResponse__Output>): grpc.ClientUnaryCall;
  GetAgents(argument: _tollkeeper_identity_v1_GetAgentsRequest, metadata: grpc.Metadata, callback: grpc.requestCallback<_tollkeeper_identity_v1_GetAgentsResponse__Output>): grpc.ClientUnaryCall;
  GetAgents(argument: _tollkeeper_identity_v1_GetAgentsRequest, options: grpc.CallOptions, callback: grpc.requestCallback<_tollkeeper_identity_v1_GetAgentsResponse__Output>): grpc.ClientUnaryCall;
  GetAgents(argument: _tollkeeper_identity_v1_GetAgentsRequest, callback: grpc.requestCallback<_tollkeeper_identity_v1_GetAgentsResponse__Output>): grpc.ClientUnaryCall;
  /**
   * Answers agents of one workspace, ordered by `agent_id`. Ids that the workspace does not have are left out
   * of the answer, so a caller that asks for one id learns whether it exists.
   */
  getAgents(argument: _tollkeeper_identity_v1_GetAgentsRequest, metadata: grpc.Metadata, options: grpc.CallOptions, callback: grpc.requestCallback<_tollkeeper_identity_v1_GetAgentsResponse__Output>): grpc.ClientUnaryCall;
  getAgents(argument: _tollkeeper_identity_v1_GetAgentsRequest, metadata: grpc.Metadata, callback: grpc.requestCallback<_tollkeeper_identity_v1_GetAgentsResponse__Output>): grpc.ClientUnaryCall;
  getAgents(argument: _tollkeeper_identity_v1_GetAgentsRequest, options: grpc.CallOptions, callback: grpc.requestCallback<_tollkeeper_identity_v1_GetAgentsResponse__Output>): grpc.ClientUnaryCall;
  getAgents(argument: _tollkeeper_identity_v1_GetAgentsRequest, callback: grpc.requestCallback<_tollkeeper_identity_v1_GetAgentsResponse__Output>): grpc.ClientUnaryCall;
  
  /**
   * Answers one workspace. NOT_FOUND when there is none with that id.
   */
  GetWorkspace(argument: _tollkeeper_identity_v1_GetWorkspaceRequest, metadata: grpc.Metadata, options: grpc.CallOptions, callback: grpc.requestCallback<_tollkeeper_identity_v1_GetWorkspaceResponse__Output>): grpc.ClientUnaryCall;
  GetWorkspace(argument: _tollkeeper_identity_v1_GetWorkspaceRequest, metadata: grpc.Metadata, callback: grpc.requestCallback<_tollkeeper_identity_v1_GetWorkspaceResponse__Output>): grpc.ClientUnaryCall;
  GetWorkspace(argument: _tollkeeper_identity_v1_GetWorkspaceRequest, options: grpc.CallOptions, callback: grpc.requestCallback<_tollkeeper_identity_v1_GetWorkspaceResponse__Output>): grpc.ClientUnaryCall;
  GetWorkspace(argument: _tollkeeper_identity_v1_GetWorkspaceRequest, callback: grpc.requestCallback<_tollkeeper_identity_v1_GetWorkspaceResponse__Output>): grpc.ClientUnaryCall;
  /**
   * Answers one workspace. NOT_FOUND when there is none with that id.
   */
  getWorkspace(argument: _tollkeeper_identity_v1_GetWorkspaceRequest, metadata: grpc.Metadata, options: grpc.CallOptions, callback: grpc.requestCallback<_tollkeeper_identity_v1_GetWorkspaceResponse__Output>): grpc.ClientUnaryCall;
  getWorkspace(argument: _tollkeeper_identity_v1_GetWorkspaceRequest, metadata: grpc.Metadata, callback: grpc.requestCallback<_tollkeeper_identity_v1_GetWorkspaceResponse__Output>): grpc.ClientUnaryCall;
  getWorkspace(argument: _tollkeeper_identity_v1_GetWorkspaceRequest, options: grpc.CallOptions, callback: grpc.requestCallback<_tollkeeper_identity_v1_GetWorkspaceResponse__Output>): grpc.ClientUnaryCall;
  getWorkspace(argument: _tollkeeper_identity_v1_GetWorkspaceRequest, callback: grpc.requestCallback<_tollkeeper_identity_v1_GetWorkspaceResponse__Output>): grpc.ClientUnaryCall;
  
  /**
   * Registers the agents that the workspace does not have yet, as an event that names them does: their ids become
   * their names. Agents that it has stay as they are. As with events, whether the workspace exists is not checked: the
   * caller has its id from a workspace key.
   */
  RegisterAgents(argument: _tollkeeper_identity_v1_RegisterAgentsRequest, metadata: grpc.Metadata, options: grpc.CallOptions, callback: grpc.requestCallback<_tollkeeper_identity_v1_RegisterAgentsResponse__Output>): grpc.ClientUnaryCall;
  RegisterAgents(argument: _tollkeeper_identity_v1_RegisterAgentsRequest, metadata: grpc.Metadata, callback: grpc.requestCallback<_tollkeeper_identity_v1_RegisterAgentsResponse__Output>): grpc.ClientUnaryCall;
  RegisterAgents(argument: _tollkeeper_identity_v1_RegisterAgentsRequest, options: grpc.CallOptions, callback: grpc.requestCallback<_tollkeeper_identity_v1_RegisterAgentsResponse__Output>): grpc.ClientUnaryCall;
  RegisterAgents(argument: _tollkeeper_identity_v1_RegisterAgentsRequest, callback: grpc.requestCallback<_tollkeeper_identity_v1_RegisterAgentsResponse__Output>): grpc.ClientUnaryCall;
  /**
   * Registers the agents that the workspace does not have yet, as an event that names them does: their ids become
   * their names. Agents that it has stay as they are. As with events, whether the workspace exists is not checked: the
   * caller has its id from a workspace key.
   */
  registerAgents(argument: _tollkeeper_identity_v1_RegisterAgentsRequest, metadata: grpc.Metadata, options: grpc.CallOptions, callback: grpc.requestCallback<_tollkeeper_identity_v1_RegisterAgentsResponse__Output>): grpc.ClientUnaryCall;
  registerAgents(argument: _tollkeeper_identity_v1_RegisterAgentsRequest, metadata: grpc.Metadata, callback: grpc.requestCallback<_tollkeeper_identity_v1_RegisterAgentsResponse__Output>): grpc.ClientUnaryCall;
  registerAgents(argument: _tollkeeper_identity_v1_RegisterAgentsRequest, options: grpc.CallOptions, callback: grpc.requestCallback<_tollkeeper_identity_v1_RegisterAgentsResponse__Output>): grpc.ClientUnaryCall;
  registerAgents(argument: _tollkeeper_identity_v1_RegisterAgentsRequest, callback: grpc.requestCallback<_tollkeeper_identity_v1_RegisterAgentsResponse__Output>): grpc.ClientUnaryCall;
  
  /**
   * Answers who a session cookie stands for and what its user may act in, as of now. A session that is unknown,
   * expired or revoked is an answer without `session`, not an error.
   * 
   * Resolving counts as use: it restarts the idle time of the session, at most once a minute. Callers may keep an
   * answer for at most 5 seconds, so that a logout or a role change takes hold everywhere within that time.
   */
  ResolveSession(argument: _tollkeeper_identity_v1_ResolveSessionRequest, metadata: grpc.Metadata, options: grpc.CallOptions, callback: grpc.requestCallback<_tollkeeper_identity_v1_ResolveSessionResponse__Output>): grpc.ClientUnaryCall;
  ResolveSession(argument: _tollkeeper_identity_v1_ResolveSessionRequest, metadata: grpc.Metadata, callback: grpc.requestCallback<_tollkeeper_identity_v1_ResolveSessionResponse__Output>): grpc.ClientUnaryCall;
  ResolveSession(argument: _tollkeeper_identity_v1_ResolveSessionRequest, options: grpc.CallOptions, callback: grpc.requestCallback<_tollkeeper_identity_v1_ResolveSessionResponse__Output>): grpc.ClientUnaryCall;
  ResolveSession(argument: _tollkeeper_identity_v1_ResolveSessionRequest, callback: grpc.requestCallback<_tollkeeper_identity_v1_ResolveSessionResponse__Output>): grpc.ClientUnaryCall;
  /**
   * Answers who a session cookie stands for and what its user may act in, as of now. A session that is unknown,
   * expired or revoked is an answer without `session`, not an error.
   * 
   * Resolving counts as use: it restarts the idle time of the session, at most once a minute. Callers may keep an
   * answer for at most 5 seconds, so that a logout or a role change takes hold everywhere within that time.
   */
  resolveSession(argument: _tollkeeper_identity_v1_ResolveSessionRequest, metadata: grpc.Metadata, options: grpc.CallOptions, callback: grpc.requestCallback<_tollkeeper_identity_v1_ResolveSessionResponse__Output>): grpc.ClientUnaryCall;
  resolveSession(argument: _tollkeeper_identity_v1_ResolveSessionRequest, metadata: grpc.Metadata, callback: grpc.requestCallback<_tollkeeper_identity_v1_ResolveSessionResponse__Output>): grpc.ClientUnaryCall;
  resolveSession(argument: _tollkeeper_identity_v1_ResolveSessionRequest, options: grpc.CallOptions, callback: grpc.requestCallback<_tollkeeper_identity_v1_ResolveSessionResponse__Output>): grpc.ClientUnaryCall;
  resolveSession(argument: _tollkeeper_identity_v1_ResolveSessionRequest, callback: grpc.requestCallback<_tollkeeper_identity_v1_ResolveSessionResponse__Output>): grpc.ClientUnaryCall;
  
}

/**
 * Every RPC is unary and safe to repeat. Errors common to all of them: INVALID_ARGUMENT names the field that is
 * wrong; UNAVAILABLE means that the service can't be reached just now, and a retry makes sense.
 */
export interface IdentityServiceHandlers extends grpc.UntypedServiceImplementation {
  /**
   * Answers agents of one workspace, ordered by `agent_id`. Ids that the workspace does not have are left out
   * of the answer, so a caller that asks for one id learns whether it exists.
   */
  GetAgents: grpc.handleUnaryCall<_tollkeeper_identity_v1_GetAgentsRequest__Output, _tollkeeper_identity_v1_GetAgentsResponse>;
  
  /**
   * Answers one workspace. NOT_FOUND when there is none with that id.
   */
  GetWorkspace: grpc.handleUnaryCall<_tollkeeper_identity_v1_GetWorkspaceRequest__Output, _tollkeeper_identity_v1_GetWorkspaceResponse>;
  
  /**
   * Registers the agents that the workspace does not have yet, as an event that names them does: their ids become
   * their names. Agents that it has stay as they are. As with events, whether the workspace exists is not checked: the
   * caller has its id from a workspace key.
   */
  RegisterAgents: grpc.handleUnaryCall<_tollkeeper_identity_v1_RegisterAgentsRequest__Output, _tollkeeper_identity_v1_RegisterAgentsResponse>;
  
  /**
   * Answers who a session cookie stands for and what its user may act in, as of now. A session that is unknown,
   * expired or revoked is an answer without `session`, not an error.
   * 
   * Resolving counts as use: it restarts the idle time of the session, at most once a minute. Callers may keep an
   * answer for at most 5 seconds, so that a logout or a role change takes hold everywhere within that time.
   */
  ResolveSession: grpc.handleUnaryCall<_tollkeeper_identity_v1_ResolveSessionRequest__Output, _tollkeeper_identity_v1_ResolveSessionResponse>;
  
}

export interface IdentityServiceDefinition extends grpc.ServiceDefinition {
  GetAgents: MethodDefinition<_tollkeeper_identity_v1_GetAgentsRequest, _tollkeeper_identity_v1_GetAgentsResponse, _tollkeeper_identity_v1_GetAgentsRequest__Output, _tollkeeper_identity_v1_GetAgentsResponse__Output>
  GetWorkspace: MethodDefinition<_tollkeeper_identity_v1_GetWorkspaceRequest, _tollkeeper_identity_v1_GetWorkspaceResponse, _tollkeeper_identity_v1_GetWorkspaceRequest__Output, _tollkeeper_identity_v1_GetWorkspaceResponse__Output>
  RegisterAgents: MethodDefinition<_tollkeeper_identity_v1_RegisterAgentsRequest, _tollkeeper_identity_v1_RegisterAgentsResponse, _tollkeeper_identity_v1_RegisterAgentsRequest__Output, _tollkeeper_identity_v1_RegisterAgentsResponse__Output>
  ResolveSession: MethodDefinition<_tollkeeper_identity_v1_ResolveSessionRequest, _tollkeeper_identity_v1_ResolveSessionResponse, _tollkeeper_identity_v1_ResolveSessionRequest__Output, _tollkeeper_identity_v1_ResolveSessionResponse__Output>
}
