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
import { AppError, newId } from '@tollkeeper/kernel';
import type { Component, Logger, Metrics } from '@tollkeeper/runtime';
import { HealthImplementation } from 'grpc-health-check';
import { toStatus } from './status.ts';
import { REQUEST_ID_METADATA, toCallName, type RpcContext, type UnaryHandlers } from './unary.ts';

// What grpc-js would print on the console also reaches the callbacks; as text it would only break up the JSON log.
if (process.env['GRPC_VERBOSITY'] === undefined) setLogVerbosity(logVerbosity.NONE);

/** A service and what it does; made by `grpcService`, which checks that the two fit. */
export interface GrpcService {
  definition: ServiceDefinition;
  handlers: Record<string, UnaryHandler>;
}

type UnaryHandler = (request: unknown, context: RpcContext) => Promise<unknown>;

export function grpcService<D extends ServiceDefinition>(definition: D, handlers: UnaryHandlers<D>): GrpcService {
  return { definition, handlers: handlers as unknown as Record<string, UnaryHandler> };
}

export interface GrpcServerOptions {
  host: string;
  /** 0 lets the operating system choose. */
  port: number;
  services: GrpcService[];
  logger: Logger;
  /** Takes the histogram `grpc_server_request_duration_seconds` by method and status, so one server for each registry. */
  metrics: Metrics;
  /** Rejects while the services can't do their work: gRPC health then says NOT_SERVING. Asked once a second. */
  ready?: () => Promise<void>;
  healthIntervalMs?: number;
  /** How long calls under way may take to finish on `stop` before they are cut off. */
  stopTimeoutMs?: number;
}

export interface GrpcServer extends Component {
  /** `host:port` as clients take it; valid once started. */
  readonly address: string;
}

const WELL_FORMED_REQUEST_ID = /^[A-Za-z0-9._:-]{1,128}$/;

/**
 * A gRPC server without transport security: it is for the network between services, where the platform gives it.
 *
 * A handler that rejects with an `AppError` answers the status of its code, and the client's side restores the
 * error. Any other rejection is logged with the request id and answered as INTERNAL, without what went wrong.
 * Speaks the gRPC health protocol for the whole server (`""`) and for each service by its full name.
 */
export function createGrpcServer(options: GrpcServerOptions): GrpcServer {
  const { host, port, services, logger, metrics, ready, healthIntervalMs = 1000, stopTimeoutMs = 5000 } = options;
  const duration = metrics.histogram({
    name: 'grpc_server_request_duration_seconds',
    help: 'Time from a complete request to its answer',
    labelNames: ['method', 'code'],
  });
  const server = new Server({
    // Clients resolve the names of servers again when a connection ends, and so find replicas that were added.
    'grpc.max_connection_age_ms': 5 * 60_000,
    'grpc.max_connection_age_grace_ms': 30_000,
  });
  const names = ['', ...services.map(({ definition }) => nameOf(definition))];
  const health = new HealthImplementation(Object.fromEntries(names.map((name) => [name, 'NOT_SERVING'])));
  health.addToServer(server);
  for (const service of services) server.addService(service.definition, implement(service));

  function implement({ definition, handlers }: GrpcService): UntypedServiceImplementation {
    const methods: UntypedServiceImplementation = {};
    for (const [rpcName, { path }] of Object.entries(definition)) {
      const handler = handlers[toCallName(rpcName)];
      if (handler === undefined) throw new Error(`${path} has no handler`);
      methods[rpcName] = toUnaryCall(path, handler);
    }
    return methods;
  }

  function toUnaryCall(method: string, handler: UnaryHandler): handleUnaryCall<unknown, unknown> {
    return (call, callback) => {
      const stopTimer = duration.startTimer({ method });
      const requestId = toRequestId(call.metadata.get(REQUEST_ID_METADATA)[0]);
      const fail = (err: unknown): void => {
        const log = logger.child({ request_id: requestId, rpc: method });
        if (!(err instanceof AppError)) log.error({ err }, 'an RPC failed');
        else if (err.cause !== undefined) log.warn({ err }, 'an RPC was refused');
        const failure = toStatus(err);
        stopTimer({ code: status[failure.code] });
        callback(failure);
      };
      const answer = async (): Promise<unknown> => handler(call.request, { requestId });
      answer().then((response) => {
        stopTimer({ code: status[status.OK] });
        callback(null, response);
      }, fail);
    };
  }

  let address = '';
  let healthTimer: NodeJS.Timeout | undefined;

  async function publishHealth(): Promise<void> {
    const serving = await (ready?.() ?? Promise.resolve()).then(
      () => true,
      () => false,
    );
    if (healthTimer === undefined) return;
    for (const name of names) health.setStatus(name, serving ? 'SERVING' : 'NOT_SERVING');
    healthTimer.refresh();
  }

  return {
    name: 'grpc-server',
    get address() {
      return address;
    },
    async start() {
      const boundPort = await new Promise<number>((resolve, reject) => {
        server.bindAsync(formatAddress(host, port), ServerCredentials.createInsecure(), (cause, bound) => {
          if (cause === null) resolve(bound);
          else {
            const message = `The gRPC server can't listen on ${formatAddress(host, port)}: ${cause.message}`;
            reject(new Error(message, { cause }));
          }
        });
      });
      address = formatAddress(host, boundPort);
      healthTimer = setTimeout(() => void publishHealth(), healthIntervalMs);
      healthTimer.unref();
      await publishHealth();
    },
    async stop() {
      clearTimeout(healthTimer);
      healthTimer = undefined;
      for (const name of names) health.setStatus(name, 'NOT_SERVING');
      await new Promise<void>((resolve) => {
        const timer = setTimeout(() => {
          logger.warn({ stop_timeout_ms: stopTimeoutMs }, 'RPCs did not finish in time and were cut off');
          server.forceShutdown();
          resolve();
        }, stopTimeoutMs);
        server.tryShutdown(() => {
          clearTimeout(timer);
          resolve();
        });
      });
    },
    async ready() {
      if (healthTimer === undefined) throw new Error('the gRPC server is not started');
    },
  };
}

function nameOf(definition: ServiceDefinition): string {
  return Object.values(definition)[0]?.path.split('/')[1] ?? '';
}

function toRequestId(given: unknown): string {
  return typeof given === 'string' && WELL_FORMED_REQUEST_ID.test(given) ? given : newId('req');
}

function formatAddress(host: string, port: number): string {
  return host.includes(':') ? `[${host}]:${port}` : `${host}:${port}`;
}
