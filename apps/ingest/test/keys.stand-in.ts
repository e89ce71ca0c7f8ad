import {
  type KeyRole,
  keysService,
  type KeysServiceDefinition,
  mintWorkspaceKey,
  toWireKeyRole,
} from '@tollkeeper/contracts';
import { createGrpcServer, type GrpcServer, grpcService, type UnaryHandlers } from '@tollkeeper/grpc';
import { AppError, newId, provenTenantId, type TenantId } from '@tollkeeper/kernel';
import { createMetrics, type Logger } from '@tollkeeper/runtime';

/** What the service and its peers share. */
export const CALLER_TOKEN_SECRET = 'a-caller-token-secret-of-enough-bytes';

/**
 * Serves the contract of keys.proto over real gRPC, from a table. A service may not import another one; e2e runs this
 * service with the real keys service.
 */
export function createKeysStandIn(logger: Logger) {
  const keys = new Map<string, { tenantId: TenantId; role: KeyRole }>();
  let server: GrpcServer | undefined;
  let port = 0;
  let calls = 0;

  const handlers: UnaryHandlers<KeysServiceDefinition> = {
    async verifyKey({ keySha256 }) {
      calls += 1;
      const key = keys.get(keySha256.toString('hex'));
      if (key === undefined) throw new AppError('not_found', 'This workspace key is not valid.');
      return { tenantId: key.tenantId, role: toWireKeyRole(key.role) };
    },
  };

  return {
    get address() {
      return `127.0.0.1:${port}`;
    },
    /** How often VerifyKey was called. */
    calls: () => calls,
    /** Starts where it was before, if it was. */
    async start() {
      const services = [grpcService(keysService, handlers)];
      server = createGrpcServer({
        host: '127.0.0.1',
        port,
        services,
        callerTokenSecret: CALLER_TOKEN_SECRET,
        logger,
        metrics: createMetrics('keys'),
      });
      await server.start();
      port = Number(server.address.split(':')[1]);
    },
    async stop() {
      await server?.stop();
    },
    /** A new good key. */
    issue(role: KeyRole = 'developer') {
      const { apiKey, sha256 } = mintWorkspaceKey();
      const tenantId = provenTenantId(newId('ws'));
      keys.set(sha256.toString('hex'), { tenantId, role });
      return { apiKey, tenantId, sha256 };
    },
    revoke: (sha256: Buffer) => keys.delete(sha256.toString('hex')),
  };
}
