import type { ServiceDefinition } from '@grpc/grpc-js';
import type { ErrorCode, ErrorDetail } from '@tollkeeper/kernel';
import type { z } from 'zod';

/** The names of a service's unary RPCs, without the index signature of generated definitions. */
type RpcName<D> = keyof {
  [K in keyof D as string extends K ? never : K extends StreamName ? never : K extends string ? K : never]: true;
};

type StreamName = `${string}Stream` | `Stream${string}`;

type Sent<M> = M extends { requestSerialize: (value: infer Request) => Buffer } ? Request : never;
type Received<M> = M extends { requestDeserialize: (bytes: Buffer) => infer Request } ? Request : never;
type Answered<M> = M extends { responseSerialize: (value: infer Response) => Buffer } ? Response : never;
type Result<M> = M extends { responseDeserialize: (bytes: Buffer) => infer Response } ? Response : never;

/** Metadata with the id of the request that led to a call. */
export const REQUEST_ID_METADATA = 'x-request-id';

/** Why a request of a batch was refused, as in the messages. */
export interface RequestRefusal {
  code: ErrorCode;
  message: string;
  details: ErrorDetail[];
  retryAfterSeconds?: number;
}

/**
 * Answers each request of a batch separately and concurrently. A request that its schema or `answer` refuses gets an
 * `error` in its place. Resolves once all are answered, in the order of the requests.
 */
export type AnswerEach = <Request, Answer>(
  requests: readonly unknown[],
  schema: z.ZodType<Request>,
  answer: (request: Request) => Promise<Answer>,
) => Promise<(Answer | { error: RequestRefusal })[]>;

export interface RpcContext<C = undefined> {
  /** Id of the request that led to this call. It is in every log line about the call. */
  requestId: string;
  /** The caller, for services with their own authenticator. */
  caller: C;
  /** For RPCs that carry many requests in their field `requests`. */
  answerEach: AnswerEach;
}

/** The request of each RPC of a service, by the RPC's name in camelCase. */
type Requests<D extends ServiceDefinition> = {
  [Name in RpcName<D> as Uncapitalize<Name & string>]: Received<D[Name]>;
};

/** A schema for the request of each RPC of a service. Every RPC and every field of its request must have one. */
export type RequestSchemas<D extends ServiceDefinition> = {
  [Name in keyof Requests<D>]: z.ZodType<unknown, Requests<D>[Name]>;
};

/**
 * The handlers of a service's RPCs, with requests `R` from its schemas and callers `C` of its authenticator. Rejections
 * become a status.
 */
export type UnaryHandlers<D extends ServiceDefinition, R = Requests<D>, C = undefined> = {
  [Name in keyof R]: (request: R[Name], context: RpcContext<C>) => Promise<Answered<D[Capitalize<Name & string>]>>;
};

export interface CallOptions {
  /** Passed on, so that the logs of both sides can be joined. */
  requestId?: string;
  /** Overrides the client's `deadlineMs`. */
  deadlineMs?: number;
}

/** The RPCs of a service as functions, by the RPC's name in camelCase. All rejections are `AppError`s. */
export type UnaryCalls<D extends ServiceDefinition> = {
  [Name in RpcName<D> as Uncapitalize<Name & string>]: (
    request: Sent<D[Name]>,
    options?: CallOptions,
  ) => Promise<Result<D[Name]>>;
};

/** `GetWorkspace` → `getWorkspace`. */
export function toCallName(rpcName: string): string {
  return rpcName.charAt(0).toLowerCase() + rpcName.slice(1);
}

/** The full name of a service, such as `tollkeeper.keys.v1.KeysService`. */
export function serviceNameOf(definition: ServiceDefinition): string {
  return Object.values(definition)[0]?.path.split('/')[1] ?? '';
}

/** The short name of a service in messages and logs: `tollkeeper.keys.v1.KeysService` → `keys`. */
export function peerNameOf(serviceName: string): string {
  return serviceName.split('.')[1] ?? serviceName;
}
