import { once } from 'node:events';
import { type AddressInfo, createServer, type Socket } from 'node:net';
import {
  type handleUnaryCall,
  logVerbosity,
  Server,
  ServerCredentials,
  type ServiceDefinition,
  setLogVerbosity,
  status,
  type UntypedServiceImplementation,
} from '@grpc/grpc-js';
import { AppError, type ExplainError, newId } from '@tollkeeper/kernel';
import { type Component, type GrpcServiceConfig, type Logger, type ServiceDeps, withSpan } from '@tollkeeper/runtime';
import { HealthImplementation } from 'grpc-health-check';
import type { z } from 'zod';
import { createArrivalLimit } from './arrival.limit.ts';
import { createAnswerEach, requestsIn } from './batch.ts';
import { createServerTelemetry, textOf } from './call.telemetry.ts';
import { createFairRoom } from './fair.room.ts';
import { checkRequest } from './request-check.ts';
import { createServiceTokenCheck } from './service-token.ts';
import { toStatus } from './status.ts';
import {
  serviceNameOf,
  REQUEST_ID_METADATA,
  type RequestSchemas,
  type RpcContext,
  toCallName,
  type UnaryHandlers,
} from './unary.ts';

// What grpc-js would print on the console also reaches the callbacks; as text it would only break up the JSON log.
if (process.env['GRPC_VERBOSITY'] === undefined) setLogVerbosity(logVerbosity.NONE);

/** A service, what it takes and what it does; made by `grpcService`, which checks that they fit. */
export interface GrpcService {
  definition: ServiceDefinition;
  requests: Record<string, z.ZodType>;
  handlers: Record<string, UnaryHandler>;
  /** Undefined: the calls are those of our services, by their token. */
  authenticator: RpcAuthenticator<unknown> | undefined;
}

type UnaryHandler = (request: unknown, context: RpcContext<unknown>) => Promise<unknown>;

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

/** Who is calling; null for one that is none of our services and should be. */
type Admit = (facts: RpcFacts) => Promise<{ caller: unknown; ended?: () => void } | null>;

/** `metrics` takes the histogram `grpc_server_request_duration_seconds` by method and status. */
export interface GrpcServerOptions extends ServiceDeps<GrpcServiceConfig> {
  services: GrpcService[];
  /** Of the libraries that the handlers use: an error that it knows is answered as it says, any other as INTERNAL. */
  explain?: ExplainError;
  /** Largest request, after decompression; a larger one is RESOURCE_EXHAUSTED. */
  maxRequestBytes?: number;
  /** Rejects while the services can't do their work: gRPC health then says NOT_SERVING. Asked once a second. */
  ready?: () => Promise<void>;
  healthIntervalMs?: number;
  /** Most connections. Beyond it, the oldest one of the address that has the most is closed. */
  maxConnections?: number;
  /** How long calls under way may take to finish on `stop` before they are cut off. */
  stopTimeoutMs?: number;
}

export interface GrpcServer extends Component {
  /** `host:port` as clients take it; valid once started. */
  readonly address: string;
}

/** Without an error code of ours, so that it never becomes a 401 for the person whose request led to the call. */
const NOT_A_SERVICE = {
  code: status.UNAUTHENTICATED,
  details: 'No valid token of a service. CALLER_TOKEN_SECRET must be the same in all services, and their clocks right.',
};
/**
 * Most requests of a connection that are open. A client keeps further ones back, or is refused. As many as the edge has
 * under way at one service, so that it never waits for this.
 */
const MAX_STREAMS = 1_024;
/** Would let everybody keep streams open for as long as they like. Probes ask `Check`. */
const HEALTH_WATCH = '/grpc.health.v1.Health/Watch';
/** Milliseconds between two warnings of refused calls. */
const WARN_EVERY_MS = 1_000;
/**
 * Most requests of one caller that are answered at a time, those of batches too, where callers have an authenticator of
 * their own.
 */
const MAX_UNDER_WAY = 256;
const DEFAULT_MAX_REQUEST_BYTES = 4 * 1024 * 1024;
const WELL_FORMED_REQUEST_ID = /^[A-Za-z0-9._:-]{1,128}$/;

/**
 * The gRPC server of a service, for the calls between services. Each call must carry a token by the secret that they
 * share, else it is UNAUTHENTICATED. A service with an authenticator of its own takes what that lets in, and no such
 * token. Only health is open to all, for probes. Transport security is the platform's to give. A request that the
 * schema of its RPC refuses is INVALID_ARGUMENT with every problem, and its handler is not called.
 *
 * A handler that rejects with an `AppError` answers the status of its code, and the client's side restores the
 * error. So does one that `explain` makes an `AppError`. Any other rejection is logged with the request id and answered
 * as INTERNAL, without what went wrong. Speaks the gRPC health protocol for the whole server (`""`) and for each
 * service by its full name: NOT_SERVING from `drain` on, though calls are answered until `stop`, which lets those under
 * way finish.
 */
export function createGrpcServer(options: GrpcServerOptions): GrpcServer {
  const {
    config: { HOST: host, GRPC_PORT: port, CALLER_TOKEN_SECRET: callerTokenSecret },
    services,
    logger,
    metrics,
    tracer,
    maxRequestBytes = DEFAULT_MAX_REQUEST_BYTES,
    ready,
    healthIntervalMs = 1000,
    maxConnections = 4_096,
    stopTimeoutMs = 5000,
  } = options;
  const telemetry = createServerTelemetry({ metrics, tracer });
  const server = new Server({
    // Clients resolve the names of servers again when a connection ends, and so find replicas that were added.
    'grpc.max_connection_age_ms': 5 * 60_000,
    'grpc.max_connection_age_grace_ms': 30_000,
    'grpc.max_receive_message_length': maxRequestBytes,
    'grpc.max_concurrent_streams': MAX_STREAMS,
    interceptors: [createArrivalLimit()],
  });
  const names = ['', ...services.map(({ definition }) => serviceNameOf(definition))];
  const health = new HealthImplementation(Object.fromEntries(names.map((name) => [name, 'NOT_SERVING'])));
  health.addToServer(server);
  server.unregister(HEALTH_WATCH);
  for (const service of services) server.addService(service.definition, implement(service));

  function implement({ definition, requests, handlers, authenticator }: GrpcService): UntypedServiceImplementation {
    const methods: UntypedServiceImplementation = {};
    const admit = authenticator === undefined ? admitServices(definition) : admitCallers(authenticator);
    for (const [rpcName, { path }] of Object.entries(definition)) {
      const handler = handlers[toCallName(rpcName)];
      const schema = requests[toCallName(rpcName)];
      if (handler === undefined || schema === undefined) throw new Error(`${path} has no handler or no schema`);
      methods[rpcName] = toUnaryCall(path, schema, handler, admit);
    }
    return methods;
  }

  function admitServices(definition: ServiceDefinition): Admit {
    const isForUs = createServiceTokenCheck(callerTokenSecret, serviceNameOf(definition));
    return async ({ authorization }) => ((await isForUs(authorization)) ? { caller: undefined } : null);
  }

  function admitCallers({ authenticate, senderOf }: RpcAuthenticator<unknown>): Admit {
    const underWay = new Map<string, number>();
    return async (facts) => {
      const caller = await authenticate(facts);
      const sender = senderOf(caller);
      const count = (underWay.get(sender) ?? 0) + facts.requests;
      if (count > MAX_UNDER_WAY) throw tooManyUnderWay();
      underWay.set(sender, count);
      const ended = (): void => {
        const left = (underWay.get(sender) ?? 0) - facts.requests;
        if (left === 0) underWay.delete(sender);
        else underWay.set(sender, left);
      };
      return { caller, ended };
    };
  }

  function toUnaryCall(
    method: string,
    schema: z.ZodType,
    handler: UnaryHandler,
    admit: Admit,
  ): handleUnaryCall<unknown, unknown> {
    return (call, callback) => {
      const { span, end } = telemetry.begin(method, call.metadata);
      const requestId = toRequestId(call.metadata.get(REQUEST_ID_METADATA)[0]);
      const explain = (thrown: unknown): unknown => {
        const err = options.explain?.(thrown) ?? thrown;
        const log = logger.child({ request_id: requestId, rpc: method });
        if (!(err instanceof AppError)) log.error({ err }, 'an RPC failed');
        else if (err.cause !== undefined) warnOfRefusal(log, err);
        return err;
      };
      const fail = (thrown: unknown): void => refuse(toStatus(explain(thrown), requestId));
      const refuse = (failure: { code: status }): void => {
        end(failure.code);
        callback(failure);
      };
      const answer = async (): Promise<void> => {
        const authorization = textOf(call.metadata, 'authorization');
        const requests = requestsIn(call.request);
        const admitted = await admit({ authorization, requestId, rpc: method, requests });
        if (admitted === null) return refuse(NOT_A_SERVICE);
        const { caller, ended } = admitted;
        try {
          const answerEach = createAnswerEach({ explain, onAnswer: (code) => telemetry.batched(method, code) });
          const response = await handler(checkRequest(schema, call.request), { requestId, caller, answerEach });
          end(status.OK);
          callback(null, response);
        } finally {
          ended?.();
        }
      };
      const respond = (): void => void answer().catch(fail);
      if (span === undefined) respond();
      else withSpan(span, respond);
    };
  }

  // While a peer is away, all calls are refused for the same cause, and some have thousands a second.
  const refused = { warnAt: 0, unsaid: 0 };
  function warnOfRefusal(log: Logger, err: AppError): void {
    if (performance.now() < refused.warnAt) {
      refused.unsaid += 1;
      return;
    }
    const before = refused.unsaid === 0 ? '' : `, and ${refused.unsaid} before it`;
    log.warn({ err }, `an RPC was refused${before}`);
    Object.assign(refused, { warnAt: performance.now() + WARN_EVERY_MS, unsaid: 0 });
  }

  const injector = server.createConnectionInjector(ServerCredentials.createInsecure());
  const connections = createFairRoom<Socket>(maxConnections, (socket) => socket.destroy());
  const listener = createServer({ noDelay: true }, (socket) => {
    const from = socket.remoteAddress ?? '';
    connections.add(from, socket);
    socket.once('close', () => connections.delete(from, socket));
    injector.injectConnection(socket);
  });

  let address = '';
  let healthTimer: NodeJS.Timeout | undefined;
  let draining = false;

  function setHealth(serving: boolean): void {
    for (const name of names) health.setStatus(name, serving ? 'SERVING' : 'NOT_SERVING');
  }

  async function publishHealth(): Promise<void> {
    const serving = await (ready?.() ?? Promise.resolve()).then(
      () => true,
      () => false,
    );
    if (healthTimer === undefined) return;
    setHealth(serving && !draining);
    healthTimer.refresh();
  }

  return {
    name: 'grpc-server',
    get address() {
      return address;
    },
    async start() {
      listener.listen(port, host);
      await once(listener, 'listening').catch((cause: Error) => {
        const message = `The gRPC server can't listen on ${formatAddress(host, port)}: ${cause.message}`;
        throw new Error(message, { cause });
      });
      address = formatAddress(host, (listener.address() as AddressInfo).port);
      healthTimer = setTimeout(() => void publishHealth(), healthIntervalMs);
      healthTimer.unref();
      await publishHealth();
    },
    drain() {
      draining = true;
      setHealth(false);
    },
    async stop() {
      clearTimeout(healthTimer);
      healthTimer = undefined;
      setHealth(false);
      if (!listener.listening) return;
      const closed = once(listener, 'close');
      listener.close();
      const timer = setTimeout(() => {
        logger.warn({ stop_timeout_ms: stopTimeoutMs }, 'RPCs did not finish in time and were cut off');
        for (const socket of connections.entries()) socket.destroy();
      }, stopTimeoutMs);
      injector.drain(stopTimeoutMs);
      await closed;
      clearTimeout(timer);
      server.forceShutdown();
    },
    async ready() {
      if (healthTimer === undefined) throw new Error('the gRPC server is not started');
    },
  };
}

function toRequestId(given: unknown): string {
  return typeof given === 'string' && WELL_FORMED_REQUEST_ID.test(given) ? given : newId('req');
}

function formatAddress(host: string, port: number): string {
  return host.includes(':') ? `[${host}]:${port}` : `${host}:${port}`;
}

function tooManyUnderWay(): AppError {
  const message = `You may have ${MAX_UNDER_WAY} requests under way here. Wait for the answers to some of them.`;
  return new AppError('rate_limited', message, { retryAfterSeconds: 1 });
}
