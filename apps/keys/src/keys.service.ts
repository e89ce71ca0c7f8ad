import { createAuditTrail } from '@tollkeeper/audit-trail';
import { type EventLog, instrumentEventLog, observeOutboxes } from '@tollkeeper/event-log';
import { createGrpcServer } from '@tollkeeper/grpc';
import { createHttpServer } from '@tollkeeper/http';
import { type Clock, systemClock } from '@tollkeeper/kernel';
import { connectMongo, explainOutage } from '@tollkeeper/mongo';
import {
  assembleService,
  type Component,
  type Logger,
  type ServesGrpc,
  type ServesHttp,
  type ServiceDeps,
} from '@tollkeeper/runtime';
import type { KeysConfig } from './config.ts';
import { createKeyUseRecorder, type KeyUseRecorder } from './domain/key-use.recorder.ts';
import { createKeyUseCases, type KeyUseCases } from './domain/key.use-cases.ts';
import { createKeysHandlers } from './grpc/keys.handlers.ts';
import { createKeyRoutes } from './http/key.routes.ts';
import { createKeyStore } from './store/key.store.ts';

export interface KeysDeps extends ServiceDeps<KeysConfig> {
  /** Started before the service and stopped after it. */
  eventLog: EventLog;
  clock?: Clock;
}

/** Manages workspace keys over HTTP and verifies them over gRPC. Addresses are valid once started. */
export interface KeysService extends Component, ServesHttp, ServesGrpc {
  /** Operations on keys, for a process that includes this service. Valid once started. */
  readonly useCases: KeyUseCases;
}

export function createKeys(deps: KeysDeps): KeysService {
  const { config, logger, metrics, tracer, clock = systemClock } = deps;
  const eventLog = instrumentEventLog(deps.eventLog, { metrics, tracer });
  const mongo = connectMongo({ uri: config.MONGODB_URI, database: config.MONGODB_DATABASE, logger });
  const trail = createAuditTrail({ connection: mongo.connection, eventLog, logger, clock });
  observeOutboxes({ metrics, logger, clock }, [trail.outbox]);
  const store = createKeyStore(mongo.connection, trail);
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
  const http = createHttpServer({
    ...deps,
    routes: createKeyRoutes(useCases),
    service: 'keys',
    title: 'Tollkeeper workspace keys',
    explain: explainOutage,
  });
  const grpc = createGrpcServer({
    ...deps,
    services: [createKeysHandlers(useCases)],
    explain: explainOutage,
    ready: () => mongo.ping(),
  });
  // The servers stop first and the connection last, so that the uses of the last calls are stored.
  return Object.assign(assembleService({ name: 'keys', logger, parts: [mongo, trail.outbox, flusher], grpc, http }), {
    useCases,
  });
}

function createUseFlusher(uses: KeyUseRecorder, intervalMs: number, logger: Logger) {
  let timer: NodeJS.Timeout | undefined;
  const flush = (): Promise<void> =>
    uses.flush().catch((err: unknown) => logger.warn({ err }, 'last_used_at could not be written'));
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
