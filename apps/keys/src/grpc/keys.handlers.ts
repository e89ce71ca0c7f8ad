import { keysRequests, keysService, toWireKeyRole } from '@tollkeeper/contracts';
import { type GrpcService, grpcService } from '@tollkeeper/grpc';
import type { KeyUseCases } from '../domain/key.use-cases.ts';
import type { ReportUseCases } from '../domain/report.ts';

/** The handlers of keys.proto. */
export function createKeysHandlers(useCases: KeyUseCases, reports: ReportUseCases): GrpcService {
  return grpcService(keysService, keysRequests, {
    async verifyKey({ keyId, keySha256 }) {
      const { tenantId, role, labels } = await useCases.verify(keyId, keySha256);
      return { tenantId, role: toWireKeyRole(role), labels, watched: await reports.isWatched(tenantId) };
    },
    async keepReport({ tenantId, reportId, ...report }) {
      await reports.keep(tenantId, { id: reportId, ...report });
      return {};
    },
  });
}
