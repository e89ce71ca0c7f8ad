import type { ServiceDefinition } from '@grpc/grpc-js';
import type { z } from 'zod';
import type { ReportKind } from './report.kind.ts';
import type { StreamedKind } from './streamed.kind.ts';
import type { RequestSchemas, RpcContext, UnaryHandlers } from './unary.ts';

/** A service with its schemas and handlers. Made by `grpcService`, which checks that they match. */
export interface GrpcService {
  definition: ServiceDefinition;
  requests: Record<string, z.ZodType>;
  handlers: Record<string, UnaryHandler>;
  /** The kinds of requests of each stream, by the name of its RPC. Streams need an authenticator. */
  streams?: Record<string, Record<string, StreamedKind>>;
  /** How each stream of reports is taken, by the name of its RPC. They need an authenticator, too. */
  reports?: Record<string, ReportKind>;
  /** Undefined: only our services may call, with their token. */
  authenticator: RpcAuthenticator<unknown> | undefined;
}

export type UnaryHandler = (request: unknown, context: RpcContext<unknown>) => Promise<unknown>;

/** The facts of a call before any check. */
export interface RpcFacts {
  /** The metadata `authorization`. */
  authorization: string | undefined;
  requestId: string;
  /** Path of the RPC, such as `/tollkeeper.keys.v1.KeysService/VerifyKey`. */
  rpc: string;
  /** Number of requests that it carries: more than one in a batch. Each counts where requests are bounded. */
  requests: number;
  /** The message, not yet validated: some clients have their credentials in it. */
  message: unknown;
}

/** A way to authenticate other than the token of a service, such as a workspace key. */
export interface RpcAuthenticator<C> {
  /** Resolves to the caller; rejects with `unauthenticated` or `forbidden`. */
  authenticate(call: RpcFacts): Promise<C>;
  /** The sender whose calls are counted together where they are bounded. */
  senderOf(caller: C): string;
}

/**
 * Handlers get only requests that passed the schema of their RPC. With an authenticator, the service is for the callers
 * that it accepts, instead of our services.
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
