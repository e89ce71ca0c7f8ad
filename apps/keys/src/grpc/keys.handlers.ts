import { keysRequests, keysService, toWireKeyRole, toWireReportMapping } from '@tollkeeper/contracts';
import { type GrpcService, grpcService } from '@tollkeeper/grpc';
import type { KeyUseCases } from '../domain/key.use-cases.ts';
import type { ReportUseCases } from '../domain/report.ts';

/** The handlers of keys.proto. */
export function createKeysHandlers(useCases: KeyUseCases, reports: ReportUseCases): GrpcService {
  return grpcService(keysService, keysRequests, {
    async verifyKey({ keyId, keySha256 }) {
      const { tenantId, role, ...key } = await useCases.verify(keyId, keySha256);
      const { labels, reports: mapping } = key;
      const watched = await reports.isWatched(tenantId);
      return { tenantId, role: toWireKeyRole(role), labels, watched, reports: toWireReportMapping(mapping) };
    },
    async keepReport({ tenantId, reportId, ...report }) {
      await reports.keep(tenantId, { id: reportId, ...report });
      return {};
    },
  });
}
