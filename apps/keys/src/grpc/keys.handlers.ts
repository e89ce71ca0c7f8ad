import { keysService, type KeysServiceDefinition, toWireKeyRole } from '@tollkeeper/contracts';
import { type GrpcService, grpcService, type UnaryHandlers } from '@tollkeeper/grpc';
import { AppError } from '@tollkeeper/kernel';
import type { KeyUseCases } from '../domain/key.use-cases.ts';

const KEY_ID = /^[0-9A-Za-z]{16}$/;
const SHA256_BYTES = 32;

/** The gRPC contract of keys.proto. */
export function createKeysHandlers(useCases: KeyUseCases): GrpcService {
  const handlers: UnaryHandlers<KeysServiceDefinition> = {
    async verifyKey({ keyId, keySha256 }) {
      if (!KEY_ID.test(keyId)) throw new AppError('invalid_request', 'key_id must be 16 base62 characters.');
      if (keySha256.length !== SHA256_BYTES) throw new AppError('invalid_request', 'key_sha256 must be 32 bytes.');
      const { tenantId, role } = await useCases.verify(keyId, keySha256);
      return { tenantId, role: toWireKeyRole(role) };
    },
  };
  return grpcService(keysService, handlers);
}
