import { Client, credentials } from '@grpc/grpc-js';
import { afterEach } from '@jest/globals';
import {
  healthService,
  identityRequests,
  identityService,
  type IdentityServiceDefinition,
} from '@tollkeeper/contracts';
import { createLogger, createMetrics } from '@tollkeeper/runtime';
import { createGrpcClient, type GrpcClient } from '../src/grpc-client.ts';
import { createGrpcServer, type GrpcServer, type GrpcServerOptions } from '../src/grpc-server.ts';
import { grpcService } from '../src/grpc-service.ts';
import type { UnaryHandlers } from '../src/unary.ts';

type Handlers = UnaryHandlers<IdentityServiceDefinition>;

export const workspace = { id: 'ws_1', slug: 'demo', name: 'Demo', timezone: 'UTC', trackedLabels: [] };
export const callerTokenSecret = 'a-caller-token-secret-of-enough-bytes';
export const config = { HOST: '127.0.0.1', GRPC_PORT: 0, CALLER_TOKEN_SECRET: callerTokenSecret };
export const lines: string[] = [];
const logger = createLogger({
  service: 'test',
  level: 'info',
  destination: { write: (line) => void lines.push(line) },
});
export const cleanUps: (() => Promise<void>)[] = [];

afterEach(async () => {
  for (const cleanUp of cleanUps.splice(0).reverse()) await cleanUp();
  lines.length = 0;
});

export function handlersWith(overrides: Partial<Handlers>): Handlers {
  return {
    resolveSession: async () => ({}),
    getWorkspace: async () => ({ workspace }),
    getAgents: async () => ({ agents: [] }),
    registerAgents: async () => ({}),
    ...overrides,
  };
}

export function makeServer(overrides: Partial<Handlers> = {}, options: Partial<GrpcServerOptions> = {}): GrpcServer {
  const services = [grpcService(identityService, identityRequests, handlersWith(overrides))];
  const metrics = createMetrics('test');
  const server = createGrpcServer({
    config,
    services,
    logger,
    metrics,
    ...options,
  });
  cleanUps.push(() => server.stop());
  return server;
}

export function connect(
  address: string,
  deadlineMs = 5000,
  secret = callerTokenSecret,
): GrpcClient<IdentityServiceDefinition> {
  const client = createGrpcClient(identityService, address, {
    config: { CALLER_TOKEN_SECRET: secret },
    deadlineMs,
  });
  cleanUps.push(() => client.stop());
  return client;
}

/** The answer of the health service at `address` without credentials: `SERVING` or `NOT_SERVING`. */
export function healthOf(address: string): Promise<string> {
  const { path, requestSerialize, responseDeserialize } = healthService.Check;
  const client = new Client(address, credentials.createInsecure());
  return new Promise<string>((resolve, reject) => {
    client.makeUnaryRequest(path, requestSerialize, responseDeserialize, { service: '' }, (error, answer) =>
      error === null ? resolve(answer?.status ?? '') : reject(error),
    );
  }).finally(() => client.close());
}
