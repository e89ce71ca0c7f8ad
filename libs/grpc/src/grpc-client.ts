import {
  Client,
  connectivityState,
  credentials,
  Metadata,
  type MethodDefinition,
  type ServiceDefinition,
  type ServiceError,
  status,
} from '@grpc/grpc-js';
import type { CallerTokenConfig, Component, Metrics, Tracer } from '@tollkeeper/runtime';
import { createClientTelemetry } from './call.telemetry.ts';
import { createServiceTokens, SERVICE_TOKEN_METADATA } from './service-token.ts';
import { fromStatus } from './status.ts';
import {
  type CallOptions,
  peerNameOf,
  serviceNameOf,
  REQUEST_ID_METADATA,
  toCallName,
  type UnaryCalls,
} from './unary.ts';

export interface GrpcClientOptions {
  /** The secret that all services share, of at least 32 bytes, signs what each call carries. */
  config: CallerTokenConfig;
  /** Longest a call may take with all its attempts, unless the call says otherwise. */
  deadlineMs?: number;
  /**
   * Takes the histogram `grpc_client_request_duration_seconds` by method and status, one for all clients of a service.
   */
  metrics?: Metrics;
  tracer?: Tracer | undefined;
}

/**
 * The calls of a service, and the connection under them: it opens at the first call and `stop` closes it. It is no part
 * of its owner's readiness: one service's outage must not take those that ask it out of rotation.
 */
export type GrpcClient<D extends ServiceDefinition> = UnaryCalls<D> & Component;

const DEFAULT_DEADLINE_MS = 2000;

/**
 * Milliseconds between two look-ups of a server's name at the least; it is looked up when a connection ends or can't be
 * made. A replica that leaves has to stay longer than the names are cached, by more than this: `DRAIN_DELAY_MS`.
 */
export const LOOKUP_INTERVAL_MS = 1000;

// Only UNAVAILABLE is tried again: the peer did not do the work, or can't be known to have; all RPCs may be repeated.
const SERVICE_CONFIG = {
  loadBalancingConfig: [{ round_robin: {} }],
  methodConfig: [
    {
      name: [{}],
      retryPolicy: {
        maxAttempts: 5,
        initialBackoff: '0.1s',
        maxBackoff: '1s',
        backoffMultiplier: 2,
        retryableStatusCodes: ['UNAVAILABLE'],
      },
    },
  ],
};

/**
 * A client of the service at `address` (`host:port`; a name with several addresses is used in turn); a service passes
 * what it is made from itself. Every call has a deadline, and is tried again while the service can't be reached, up to
 * five times within it. A replica that leaves makes it look the name up anew. Rejections are `AppError`s (see
 * `fromStatus`).
 */
export function createGrpcClient<D extends ServiceDefinition>(
  definition: D,
  address: string,
  { config, deadlineMs: defaultDeadlineMs = DEFAULT_DEADLINE_MS, metrics, tracer }: GrpcClientOptions,
): GrpcClient<D> {
  const serviceName = serviceNameOf(definition);
  const peer = peerNameOf(serviceName);
  const serviceToken = createServiceTokens(config.CALLER_TOKEN_SECRET, serviceName);
  const client = new Client(address, credentials.createInsecure(), {
    'grpc.service_config': JSON.stringify(SERVICE_CONFIG),
    // Only the settings above count. A service config from DNS is ignored, because others may write there.
    'grpc.service_config_disable_resolution': 1,
    'grpc.dns_min_time_between_resolutions_ms': LOOKUP_INTERVAL_MS,
    'grpc.initial_reconnect_backoff_ms': 50,
    'grpc.max_reconnect_backoff_ms': 1000,
    'grpc.keepalive_time_ms': 30_000,
    'grpc.keepalive_timeout_ms': 5000,
  });

  const telemetry = createClientTelemetry({ metrics, tracer });

  async function call<Request, Response>(
    method: MethodDefinition<Request, Response>,
    request: Request,
    { requestId, deadlineMs = defaultDeadlineMs }: CallOptions,
  ): Promise<Response> {
    const deadline = Date.now() + deadlineMs;
    const metadata = new Metadata();
    metadata.set(SERVICE_TOKEN_METADATA, await serviceToken());
    if (requestId !== undefined) metadata.set(REQUEST_ID_METADATA, requestId);
    const { end } = telemetry.begin(method.path, metadata);
    return new Promise((resolve, reject) => {
      const done = (error: ServiceError | null, response?: Response): void => {
        end(error?.code ?? status.OK);
        if (error === null) resolve(response as Response);
        else reject(fromStatus(isConnected(client) ? error : unreached(error), peer));
      };
      const { path, requestSerialize, responseDeserialize } = method;
      client.makeUnaryRequest(path, requestSerialize, responseDeserialize, request, metadata, { deadline }, done);
    });
  }

  const calls: Record<string, unknown> = {};
  for (const [rpcName, method] of Object.entries(definition)) {
    calls[toCallName(rpcName)] = (request: object, options: CallOptions = {}) => call(method, request, options);
  }
  const component: Component = {
    name: `grpc-client:${peer}`,
    async start() {},
    async stop() {
      client.close();
    },
  };
  return Object.assign(calls, component) as GrpcClient<D>;
}

function isConnected(client: Client): boolean {
  return client.getChannel().getConnectivityState(false) === connectivityState.READY;
}

/** A call that waited for a connection until its deadline never reached the peer: the peer is unavailable, not slow. */
function unreached(error: ServiceError): ServiceError {
  return error.code === status.DEADLINE_EXCEEDED ? Object.assign(error, { code: status.UNAVAILABLE }) : error;
}
