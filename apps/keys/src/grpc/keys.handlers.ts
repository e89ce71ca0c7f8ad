import { keysRequests, keysService, toWireKeyRole } from '@tollkeeper/contracts';
import { type GrpcService, grpcService } from '@tollkeeper/grpc';
import type { KeyUseCases } from '../domain/key.use-cases.ts';

/** The handlers of keys.proto. */
export function createKeysHandlers(useCases: KeyUseCases): GrpcService {
  return grpcService(keysService, keysRequests, {
    async verifyKey({ keyId, keySha256 }) {
      const { tenantId, role, labels } = await useCases.verify(keyId, keySha256);
      return { tenantId, role: toWireKeyRole(role), labels };
    },
  });
}
