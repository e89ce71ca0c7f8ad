import type { ServiceDefinition } from '@grpc/grpc-js';
import type { z } from 'zod';
import type { RequestSchemas, RpcContext, UnaryHandlers } from './unary.ts';

/** A service, what it takes and what it does; made by `grpcService`, which checks that they fit. */
export interface GrpcService {
  definition: ServiceDefinition;
  requests: Record<string, z.ZodType>;
  handlers: Record<string, UnaryHandler>;
  /** Undefined: the calls are those of our services, by their token. */
  authenticator: RpcAuthenticator<unknown> | undefined;
}

export type UnaryHandler = (request: unknown, context: RpcContext<unknown>) => Promise<unknown>;

/** What a call says about itself before anything is checked. */
export interface RpcFacts {
  /** The metadata `authorization`. */
  authorization: string | undefined;
  requestId: string;
  /** Path of the RPC, such as `/tollkeeper.keys.v1.KeysService/VerifyKey`. */
  rpc: string;
  /** How many requests it carries, each of which counts where they are bounded: more than one in a batch. */
  requests: number;
}

/** A way to authenticate other than the token of a service, such as a workspace key. */
export interface RpcAuthenticator<C> {
  /** Resolves to who is calling; rejects with `unauthenticated` or `forbidden`. */
  authenticate(call: RpcFacts): Promise<C>;
  /** Whose calls are counted together where they are bounded. */
  senderOf(caller: C): string;
}

/**
 * Handlers are called with what the schema of their RPC makes of a request, and with nothing that it refuses. With
 * `authenticate` the service is for the callers that it lets in, in place of our services.
 */
export function grpcService<D extends ServiceDefinition, S extends RequestSchemas<D>, C = undefined>(
  definition: D,
  requests: S,
  handlers: UnaryHandlers<D, { [Name in keyof S]: z.output<S[Name]> }, C>,
  ...[authenticator]: C extends undefined ? [] : [authenticator: RpcAuthenticator<C>]
): GrpcService {
  const ofAny = handlers as unknown as Record<string, UnaryHandler>;
  return {
    definition,
    requests,
    handlers: ofAny,
    authenticator: authenticator as RpcAuthenticator<unknown> | undefined,
  };
}
