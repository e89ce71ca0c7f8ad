import { createAuditTrail } from '@tollkeeper/audit-trail';
import { observeOutboxes } from '@tollkeeper/event-log';
import { createGrpcServer } from '@tollkeeper/grpc';
import { createHttpServer } from '@tollkeeper/http';
import { assembleService, type Component, type Logger, type ServesGrpc, type ServesHttp } from '@tollkeeper/runtime';
import { createServiceBase, type DataServiceDeps } from '@tollkeeper/service';
import type { KeysConfig } from './config.ts';
import { createKeyUseRecorder, type KeyUseRecorder } from './domain/key-use.recorder.ts';
import { createKeyUseCases, type KeyUseCases } from './domain/key.use-cases.ts';
import { createReportUseCases } from './domain/report.ts';
import { createKeysHandlers } from './grpc/keys.handlers.ts';
import { createKeyRoutes } from './http/key.routes.ts';
import { createReportRoutes } from './http/report.routes.ts';
import { createKeyStore } from './store/key.store.ts';
import { createReportStore } from './store/report.store.ts';

export type KeysDeps = DataServiceDeps<KeysConfig>;

/** Manages workspace keys over HTTP and verifies them over gRPC. Addresses are valid once started. */
export interface KeysService extends Component, ServesHttp, ServesGrpc {
  /** The use cases, for a process that embeds this service. Valid once started. */
  readonly useCases: KeyUseCases;
}

export function createKeys(deps: KeysDeps): KeysService {
  const base = createServiceBase('keys', deps);
  const { config, mongo, connection, logger, clock } = base;
  const trail = createAuditTrail(base);
  observeOutboxes(base, [trail.outbox]);
  const store = createKeyStore(connection, trail);
  const uses = createKeyUseRecorder((batch) => store.recordUses(batch));
  const flusher = createUseFlusher(uses, config.LAST_USED_FLUSH_MS, logger);
  const useCases = createKeyUseCases({
    store,
    recordUse(use, { isFirst }) {
      uses.record(use);
      if (isFirst) void flusher.flush();
    },
    clock,
  });
  const reports = createReportUseCases({ store: createReportStore(connection), clock });
  const http = createHttpServer({
    ...base,
    routes: [...createKeyRoutes(useCases), ...createReportRoutes(reports)],
  });
  const grpc = createGrpcServer({
    ...base,
    services: [createKeysHandlers(useCases, reports)],
  });
  // The servers stop first and the connection last, so that the final key uses are stored.
  return Object.assign(assembleService({ ...base, parts: [mongo, trail.outbox, flusher], grpc, http }), {
    useCases,
  });
}

function createUseFlusher(uses: KeyUseRecorder, intervalMs: number, logger: Logger) {
  let timer: NodeJS.Timeout | undefined;
  const flush = (): Promise<void> =>
    uses.flush().catch((err: unknown) => logger.warn({ err }, 'last_used_at of workspace keys could not be written'));
  return {
    name: 'key-use-flusher',
    flush,
    async start() {
      timer = setInterval(() => void flush(), intervalMs);
    },
    async stop() {
      clearInterval(timer);
      await flush();
    },
  };
}
