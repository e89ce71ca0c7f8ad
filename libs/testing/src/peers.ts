import { createGrpcServer, type GrpcServer, type GrpcService } from '@tollkeeper/grpc';
import { createMetrics, type Logger } from '@tollkeeper/runtime';

/** The secret that a service under test shares with its peers. */
export const CALLER_TOKEN_SECRET = 'a-caller-token-secret-of-enough-bytes';

/** The peers of a service under test, on one address. */
export interface Peers {
  /** `host:port`, once started. */
  readonly address: string;
  /** Starts at the previous address, if any. */
  start(): Promise<void>;
  stop(): Promise<void>;
}

/**
 * Serves the contracts of a service's peers over real gRPC. A service may not import another one, so its suites use
 * handlers that answer from a table; e2e runs the service with the real peers.
 */
export function createPeers(logger: Logger, services: GrpcService[]): Peers {
  let server: GrpcServer | undefined;
  let port = 0;

  return {
    get address() {
      return `127.0.0.1:${port}`;
    },
    async start() {
      const config = { HOST: '127.0.0.1', GRPC_PORT: port, CALLER_TOKEN_SECRET };
      server = createGrpcServer({ config, services, logger, metrics: createMetrics('peers') });
      await server.start();
      port = Number(server.address.split(':')[1]);
    },
    stop: async () => server?.stop(),
  };
}
