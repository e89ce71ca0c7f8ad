import type { IncomingHttpHeaders } from 'node:http';
import type { AuditAction, Cause } from '@tollkeeper/contracts';
import type { Caller, NeededRole, Role, TenantId } from '@tollkeeper/kernel';
import { z } from 'zod';
import type { BodyParts } from './arriving-parts.ts';

export type Method = 'get' | 'post' | 'put' | 'patch' | 'delete';

/** The facts of a request before any check. */
export interface RequestFacts {
  headers: IncomingHttpHeaders;
  requestId: string;
  /** The client's address from the gateway; without a gateway, the address of the socket. */
  clientAddress: string;
}

/** A caller that acts in a workspace. */
export type TenantCaller = Caller & { tenantId: TenantId; role: Role };

/** A way to authenticate other than the gateway's caller token, such as a workspace key. */
export interface Authenticator<C> {
  /** Names the OpenAPI security scheme that documents it. */
  readonly scheme: SecurityScheme;
  /** The caller; throws `unauthenticated` or `forbidden`. Runs before the body is read. */
  authenticate(request: RequestFacts): Promise<C>;
  /** The sender in whose turn large bodies are parsed, such as the workspace of a key. */
  senderOf(caller: C): string;
}

export type SecurityScheme = 'session' | 'workspaceKey';

/**
 * Who may call a route: anyone, anyone with or without a session (`visitor`, whose caller is null without one), anyone
 * with a session, members of the workspace whose role includes this one, or callers that the authenticator accepts.
 */
export type Access = 'public' | 'visitor' | 'session' | NeededRole | Authenticator<unknown>;

export type CallerFor<A extends Access> =
  A extends Authenticator<infer C>
    ? C
    : A extends 'public'
      ? null
      : A extends 'visitor'
        ? Caller | null
        : A extends 'session'
          ? Caller
          : TenantCaller;

export const ANY_TYPE = '*/*';

/** A body of bytes, for a route that reads the bytes itself. Empty without a body. */
export const bytesBody = z
  .custom<Buffer>((value) => Buffer.isBuffer(value))
  .meta({ override: { type: 'string', format: 'binary' } });

/** A body in parts, for a route that reads it while it arrives. */
export const partsBody = z
  .custom<AsyncIterable<Buffer>>(
    (value) => typeof value === 'object' && value !== null && Symbol.asyncIterator in value,
  )
  .meta({ override: { type: 'string', format: 'binary' } });

/** A JSON body, or one schema for each content type of the route: `ANY_TYPE` stands for all of them. */
export type BodySchema = z.ZodType | Record<string, z.ZodType>;
type BodyOf<B> = B extends z.ZodType
  ? z.output<B>
  : B extends Record<string, infer S extends z.ZodType>
    ? z.output<S>
    : undefined;

export interface ResponseSchema {
  description: string;
  schema?: z.ZodType;
  /** Streamed answers that the route may give instead of a body, by content type. For lines, the schema of a line. */
  streams?: Record<string, z.ZodType>;
  /** The content type of bytes that the route may answer instead of a JSON body. */
  bytes?: string;
}
export type ResponseSchemas = Record<number, ResponseSchema>;

/** A route without an audit record, and why that is right. For members of a workspace: it changes nothing. */
export interface NotAudited {
  unaudited: string;
}

/** The audit action of a route. */
export type RouteAudit = AuditAction | NotAudited;

/** The cause of a route's changes. It has no actor if the route itself finds out who is calling. */
export type CauseFor<A extends Access, U extends RouteAudit | undefined> = U extends AuditAction
  ? A extends 'public' | 'visitor' | Authenticator<unknown>
    ? Omit<Cause, 'actor'>
    : Cause
  : undefined;

/** The possible answers of a handler: a declared status, with the body that its schema describes. */
export type ResultOf<R extends ResponseSchemas> = {
  [S in keyof R & number]: {
    status: S;
    /** Lower-case names. */
    headers?: Record<string, string | string[]>;
  } & (
    | (R[S] extends { schema: infer Z extends z.ZodType }
        ? { body: z.output<Z>; stream?: undefined; bytes?: undefined }
        : { body?: undefined; bytes?: undefined })
    | (R[S] extends { streams: object } ? { stream: AsyncIterable<string>; body?: undefined } : never)
    | (R[S] extends { bytes: string } ? { bytes: Buffer; body?: undefined } : never)
  );
}[keyof R & number];

export interface RouteContext<A extends Access, P, Q, B, U extends RouteAudit | undefined> extends RequestFacts {
  params: P extends z.ZodType ? z.output<P> : Record<string, never>;
  query: Q extends z.ZodType ? z.output<Q> : Record<string, never>;
  body: BodyOf<B>;
  caller: CallerFor<A>;
  /** Milliseconds that the check of the caller took. */
  accessMs: number;
  /** The cause for audit records. */
  cause: CauseFor<A, U>;
  /** Aborted when the client disconnects before its answer is sent. A handler may reject with its reason. */
  signal: AbortSignal;
}

export interface RouteDefinition<
  A extends Access,
  P extends z.ZodObject | undefined,
  Q extends z.ZodObject | undefined,
  B extends BodySchema | undefined,
  R extends ResponseSchemas,
  U extends RouteAudit | undefined,
> {
  /** Routes with other methods than GET must have `audit`. */
  method: U extends RouteAudit ? Method : 'get';
  /** The action of the audit record that the handler writes in the transaction of the change. */
  audit?: U;
  /** In OpenAPI's notation: `/api/v1/rules/{rule_id}`, `/api/v1/keys/{id}:revoke`. */
  path: string;
  /** Paths of the same operation for clients that cannot choose, without parameters. The document has only `path`. */
  otherPaths?: readonly string[];
  /**
   * For proxies that ask about a request with its method, path and query: the route takes every method, at all paths
   * below its own too, and ignores what it does not know in the query. The document has only `method` and `path`.
   */
  takesAnyRequest?: boolean;
  /** Unique in all of Tollkeeper, camel case. */
  operationId: string;
  tag: string;
  summary: string;
  description?: string;
  access: A;
  /** One string field for each `{name}` of the path. */
  params?: P;
  /**
   * Unknown parameters are ignored, repeated ones refused. If the parameter `label` is a record, then `label.team` is
   * its member `team`.
   */
  query?: Q;
  /** Objects in it must be strict: an unknown field is an error, never ignored. */
  body?: B;
  /** Whether the schemas of the body get its bytes (`bytesBody`) instead of a JSON value. Then it may be absent. */
  readsBytes?: boolean;
  /**
   * How the body is divided if the handler reads it part by part (`partsBody`). It must read all of them, or stop by an
   * error. Then nothing is charged for the bytes.
   */
  parts?: BodyParts;
  /** Largest body in bytes, after decompression; the server's limit unless given. */
  bodyLimitBytes?: number;
  /** What a sender whose body is too large can do, as a sentence of the 413. */
  tooLargeHint?: string;
  /** How many times larger a body over 64 KiB may become by decompression; any number unless given. */
  bodyRatioLimit?: number;
  /**
   * Charges the caller for the bytes of the body, after decompression and before parsing. A thrown error becomes the
   * answer.
   */
  chargeBytes?: (caller: CallerFor<A>, bytes: number) => void;
  /**
   * Charges the caller for the request, valid or not: called with the JSON value of the body before validation. A
   * thrown error becomes the answer.
   */
  charge?: (caller: CallerFor<A>, body: unknown) => void;
  /** The successful answers; all errors have the common error body. */
  responses: R;
  handler: (context: RouteContext<A, P, Q, B, NoInfer<U>>) => Promise<ResultOf<NoInfer<R>>>;
}

/** A defined route, without the types of its schemas. */
export interface Route {
  method: Method;
  audit: RouteAudit | undefined;
  path: string;
  otherPaths: readonly string[];
  takesAnyRequest: boolean;
  operationId: string;
  tag: string;
  summary: string;
  description: string | undefined;
  access: Access;
  params: z.ZodObject | undefined;
  query: z.ZodObject | undefined;
  bodies: Record<string, z.ZodType> | undefined;
  readsBytes: boolean;
  parts: BodyParts | undefined;
  bodyLimitBytes: number | undefined;
  tooLargeHint: string | undefined;
  bodyRatioLimit: number | undefined;
  chargeBytes: ((caller: unknown, bytes: number) => void) | undefined;
  charge: ((caller: unknown, body: unknown) => void) | undefined;
  responses: ResponseSchemas;
  handler: (context: UntypedContext) => Promise<RouteResult>;
}

export interface UntypedContext extends RequestFacts {
  params: unknown;
  query: unknown;
  body: unknown;
  caller: unknown;
  accessMs: number;
  cause: unknown;
  signal: AbortSignal;
}

export interface RouteResult {
  status: number;
  headers?: Record<string, string | string[]>;
  body?: unknown;
  stream?: AsyncIterable<string> | undefined;
  bytes?: Buffer | undefined;
}

/**
 * One operation of an API: the schemas validate the request, type the handler and make the OpenAPI document. Throws if
 * `params` does not name exactly the parameters of the path.
 */
export function defineRoute<
  A extends Access,
  const R extends ResponseSchemas,
  P extends z.ZodObject | undefined = undefined,
  Q extends z.ZodObject | undefined = undefined,
  B extends BodySchema | undefined = undefined,
  const U extends RouteAudit | undefined = undefined,
>(route: RouteDefinition<A, P, Q, B, R, U>): Route {
  const inPath = [...route.path.matchAll(/\{(\w+)\}/g)].map((match) => match[1]);
  const declared = Object.keys(route.params?.shape ?? {});
  if (inPath.toSorted().join() !== declared.toSorted().join()) {
    throw new Error(`${route.operationId}: the path ${route.path} and the params {${declared.join()}} do not agree`);
  }
  return {
    ...route,
    audit: route.audit,
    description: route.description,
    otherPaths: route.otherPaths ?? [],
    takesAnyRequest: route.takesAnyRequest ?? false,
    readsBytes: route.readsBytes ?? false,
    parts: route.parts,
    params: route.params,
    query: route.query,
    bodies: route.body instanceof z.ZodType ? { 'application/json': route.body } : route.body,
    bodyLimitBytes: route.bodyLimitBytes,
    tooLargeHint: route.tooLargeHint,
    bodyRatioLimit: route.bodyRatioLimit,
    // The pipeline passes only the output of the route's own schemas and access, so the types hold.
    chargeBytes: route.chargeBytes as Route['chargeBytes'],
    charge: route.charge as Route['charge'],
    handler: route.handler as unknown as Route['handler'],
  };
}

/** An optional whole number in the query, such as `limit`; out of bounds is an error. */
export function integerQuery(bounds: { min: number; max: number; default: number; description: string }) {
  const { min, max, description } = bounds;
  const message = `must be a whole number from ${min} to ${max}`;
  return z
    .string()
    .regex(/^-?\d{1,16}$/, message)
    .transform(Number)
    .pipe(z.number().min(min, message).max(max, message))
    .prefault(String(bounds.default))
    .meta({
      description,
      override: { type: 'integer', minimum: min, maximum: max, default: bounds.default, pattern: undefined },
    });
}
