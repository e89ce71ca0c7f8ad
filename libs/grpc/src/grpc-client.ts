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
  /** The secret that all services share, at least 32 bytes. It signs the token of each call. */
  config: CallerTokenConfig;
  /** Longest time of a call with all its attempts, unless the call sets its own. */
  deadlineMs?: number;
  /**
   * Gets the histogram `grpc_client_request_duration_seconds` by method and status, shared by all clients of a service.
   */
  metrics?: Metrics;
  tracer?: Tracer | undefined;
}

/**
 * The calls of a service, and the connection for them: it opens at the first call, and `stop` closes it. It does not
 * affect its owner's readiness: an outage of one service must not take its callers out of rotation.
 */
export type GrpcClient<D extends ServiceDefinition> = UnaryCalls<D> & Component;

const DEFAULT_DEADLINE_MS = 2000;

/**
 * Least milliseconds between two look-ups of a server's name. It is looked up when a connection ends or fails. A
 * replica that leaves must keep answering longer than the time that names are cached plus this: `DRAIN_DELAY_MS`.
 */
export const LOOKUP_INTERVAL_MS = 1000;

// Only UNAVAILABLE is retried: the peer did not do the work, or nobody can know. All RPCs may be repeated.
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
 * A client of the service at `address` (`host:port`; the addresses of a name are used in turn). A service passes its
 * own deps. Every call has a deadline, and is retried up to five times within it while the service cannot be reached. A
 * replica that leaves causes a new look-up of the name. Rejections are `AppError`s (see `fromStatus`).
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
    // Only the settings above count. A service config from DNS is ignored, because others may write it.
    'grpc.service_config_disable_resolution': 1,
    'grpc.dns_min_time_between_resolutions_ms': LOOKUP_INTERVAL_MS,
    'grpc.initial_reconnect_backoff_ms': 50,
    'grpc.max_reconnect_backoff_ms': 1000,
    'grpc.keepalive_time_ms': 30_000,
    'grpc.keepalive_timeout_ms': 5000,
    // It would count every call for a service that we do not offer.
    'grpc.enable_channelz': 0,
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
