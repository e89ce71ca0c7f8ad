import { once } from 'node:events';
import { type AddressInfo, createServer, type Socket } from 'node:net';
import { logVerbosity, Server, ServerCredentials, setLogVerbosity } from '@grpc/grpc-js';
import { healthService } from '@tollkeeper/contracts';
import type { ExplainError } from '@tollkeeper/kernel';
import type { Component, GrpcServiceConfig, ServiceDeps } from '@tollkeeper/runtime';
import { createCallLimits } from './call.limits.ts';
import { createServerTelemetry } from './call.telemetry.ts';
import { createFairRoom } from './fair.room.ts';
import type { GrpcService } from './grpc-service.ts';
import { withReportBytes } from './report.kind.ts';
import { createReportStreams } from './report-streams.ts';
import { createRequestStreams } from './request-streams.ts';
import { addReflection } from './reflection/server.reflection.ts';
import { addHealth } from './server-health.ts';
import { createStreamEnds } from './stream.ends.ts';
import { serviceNameOf } from './unary.ts';
import { createExplainRpc, createImplementer } from './unary-server.ts';

// grpc-js also passes its messages to callbacks. On the console, their text would break the JSON log.
if (process.env['GRPC_VERBOSITY'] === undefined) setLogVerbosity(logVerbosity.NONE);

/** `metrics` gets the histogram `grpc_server_request_duration_seconds` by method and status. */
export interface GrpcServerOptions extends ServiceDeps<GrpcServiceConfig> {
  services: GrpcService[];
  /** Translates errors of libraries that the handlers use into statuses. Other errors are answered as INTERNAL. */
  explain?: ExplainError;
  /** Largest request, after decompression; a larger one is RESOURCE_EXHAUSTED. */
  maxRequestBytes?: number;
  /** Rejects while the services cannot work: gRPC health then reports NOT_SERVING. Called once a second. */
  ready?: () => Promise<void>;
  healthIntervalMs?: number;
  /** Most connections. Beyond it, the oldest connection of the address with most is closed. */
  maxConnections?: number;
  /** How long calls in flight may take to finish on `stop` before they are aborted. */
  stopTimeoutMs?: number;
}

export interface GrpcServer extends Component {
  /** `host:port` for clients; valid once started. */
  readonly address: string;
}

/**
 * Most open requests of a connection. A client delays further ones, or is refused. As many as the edge has in flight at
 * one service, so the edge never waits for this.
 */
const MAX_STREAMS = 1_024;
const DEFAULT_MAX_REQUEST_BYTES = 4 * 1024 * 1024;

/**
 * The gRPC server of a service, for calls between services. Each call must carry a token signed with the shared secret,
 * else it is UNAUTHENTICATED. A service with its own authenticator accepts only that one's callers, and no such token.
 * Only health and reflection are open to all, for probes and tools. The platform provides transport security. A request
 * that the schema of its RPC refuses is INVALID_ARGUMENT with every problem, and its handler is not called.
 *
 * A handler that rejects with an `AppError` answers the status of its code, and the client restores the error. The same
 * goes for errors that `explain` translates. Any other rejection is logged with the request id and answered as
 * INTERNAL, without its cause. Implements the gRPC health protocol for the whole server (`""`) and for each service by
 * its full name: NOT_SERVING from `drain` on. Calls are still answered until `stop`, which lets calls in flight finish.
 */
export function createGrpcServer(options: GrpcServerOptions): GrpcServer {
  const {
    config: { HOST: host, GRPC_PORT: port, CALLER_TOKEN_SECRET: callerTokenSecret },
    services,
    logger,
    metrics,
    tracer,
    explain,
    maxRequestBytes = DEFAULT_MAX_REQUEST_BYTES,
    ready,
    healthIntervalMs = 1000,
    maxConnections = 4_096,
    stopTimeoutMs = 5000,
  } = options;
  const telemetry = createServerTelemetry({ metrics, tracer });
  const server = new Server({
    // Clients look up a server's name again when a connection ends, and so find new replicas.
    'grpc.max_connection_age_ms': 5 * 60_000,
    'grpc.max_connection_age_grace_ms': 30_000,
    'grpc.max_receive_message_length': maxRequestBytes,
    'grpc.max_concurrent_streams': MAX_STREAMS,
    // It would count every call for a service that we do not offer.
    'grpc.enable_channelz': 0,
    interceptors: [createCallLimits({ onStreamEnd: createStreamEnds({ logger, telemetry, services }) })],
  });
  const names = services.map(({ definition }) => serviceNameOf(definition));
  const health = addHealth(server, names, { ready, intervalMs: healthIntervalMs });
  const reflection = addReflection(server, [...names, serviceNameOf(healthService)]);
  const explainRpc = createExplainRpc(logger, explain);
  const streams = createRequestStreams({ explain: explainRpc, onAnswer: telemetry.batched });
  const reports = createReportStreams({ explain: explainRpc });
  const implement = createImplementer({ callerTokenSecret, telemetry, streams, reports, explain: explainRpc });
  for (const service of services) {
    server.addService(withReportBytes(service.definition, service.reports ?? {}), implement(service));
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

  return {
    name: 'grpc-server',
    get address() {
      return address;
    },
    async start() {
      listener.listen(port, host);
      await once(listener, 'listening').catch((cause: Error) => {
        const message = `The gRPC server cannot listen on ${formatAddress(host, port)}: ${cause.message}`;
        throw new Error(message, { cause });
      });
      address = formatAddress(host, (listener.address() as AddressInfo).port);
      await health.start();
    },
    drain: health.drain,
    async stop() {
      health.stop();
      if (!listener.listening) return;
      const closed = once(listener, 'close');
      listener.close();
      const late = createTimeout(stopTimeoutMs, () => {
        logger.warn({ stop_timeout_ms: stopTimeoutMs }, 'some RPCs did not finish in time and were canceled');
        for (const socket of connections.entries()) socket.destroy();
      });
      streams.end();
      reflection.end();
      const taken = reports.end();
      injector.drain(stopTimeoutMs);
      await closed;
      await Promise.race([taken, late.over]);
      late.clear();
      server.forceShutdown();
    },
    async ready() {
      if (!health.isStarted) throw new Error('the gRPC server is not started');
    },
  };
}

function formatAddress(host: string, port: number): string {
  return host.includes(':') ? `[${host}]:${port}` : `${host}:${port}`;
}

/** Calls `act` after the time, unless it is cleared before. `over` resolves then. */
function createTimeout(ms: number, act: () => void): { over: Promise<void>; clear(): void } {
  const { promise: over, resolve } = Promise.withResolvers<void>();
  const timer = setTimeout(() => {
    act();
    resolve();
  }, ms);
  return { over, clear: () => clearTimeout(timer) };
}
