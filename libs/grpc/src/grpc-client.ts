import {
  Client,
  credentials,
  Metadata,
  type MethodDefinition,
  type ServiceDefinition,
  type ServiceError,
} from '@grpc/grpc-js';
import type { Component } from '@tollkeeper/runtime';
import { service as healthService } from 'grpc-health-check';
import { fromStatus } from './status.ts';
import { type CallOptions, REQUEST_ID_METADATA, toCallName, type UnaryCalls } from './unary.ts';

export interface GrpcClientOptions {
  /** The service at the other end, as messages and health checks call it: `identity`. */
  peer: string;
  /** Longest a call may take with all its attempts, unless the call says otherwise. */
  deadlineMs?: number;
}

/** The calls of a service, and the connection under them: it opens at the first call and `stop` closes it. */
export type GrpcClient<D extends ServiceDefinition> = UnaryCalls<D> & Component & { ready(): Promise<void> };

const DEFAULT_DEADLINE_MS = 2000;
const HEALTH_DEADLINE_MS = 1000;

// Only UNAVAILABLE is tried again: the peer did not do the work, or can't be known to have; all RPCs may be repeated.
const SERVICE_CONFIG = {
  loadBalancingConfig: [{ round_robin: {} }],
  methodConfig: [
    {
      name: [{}],
      retryPolicy: {
        maxAttempts: 5,
        initialBackoff: '0.05s',
        maxBackoff: '1s',
        backoffMultiplier: 2,
        retryableStatusCodes: ['UNAVAILABLE'],
      },
    },
  ],
};

/**
 * A client of the service at `address` (`host:port`; a name with several addresses is used in turn). Every call has
 * a deadline, and is tried again while the service can't be reached, up to five times within it. Rejections are
 * `AppError`s (see `fromStatus`). `ready` rejects unless the peer's health says that it serves.
 */
export function createGrpcClient<D extends ServiceDefinition>(
  definition: D,
  address: string,
  { peer, deadlineMs: defaultDeadlineMs = DEFAULT_DEADLINE_MS }: GrpcClientOptions,
): GrpcClient<D> {
  const client = new Client(address, credentials.createInsecure(), {
    'grpc.service_config': JSON.stringify(SERVICE_CONFIG),
    'grpc.initial_reconnect_backoff_ms': 50,
    'grpc.max_reconnect_backoff_ms': 1000,
    'grpc.keepalive_time_ms': 30_000,
    'grpc.keepalive_timeout_ms': 5000,
  });

  function call<Request, Response>(
    { path, requestSerialize, responseDeserialize }: MethodDefinition<Request, Response>,
    request: Request,
    { requestId, deadlineMs = defaultDeadlineMs }: CallOptions,
  ): Promise<Response> {
    const metadata = new Metadata();
    if (requestId !== undefined) metadata.set(REQUEST_ID_METADATA, requestId);
    return new Promise((resolve, reject) => {
      const done = (error: ServiceError | null, response?: Response): void => {
        if (error === null) resolve(response as Response);
        else reject(fromStatus(error, peer));
      };
      const deadline = Date.now() + deadlineMs;
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
    async ready() {
      const check = healthService['Check'] as MethodDefinition<{ service: string }, { status: string }>;
      const { status } = await call(check, { service: '' }, { deadlineMs: HEALTH_DEADLINE_MS });
      if (status !== 'SERVING') throw new Error(`${peer} says that it is not serving`);
    },
  };
  return Object.assign(calls, component) as GrpcClient<D>;
}
