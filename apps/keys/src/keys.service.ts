import { createGrpcServer } from '@tollkeeper/grpc';
import { createHttpServer } from '@tollkeeper/http';
import { type Clock, systemClock } from '@tollkeeper/kernel';
import { connectMongo, explainOutage } from '@tollkeeper/mongo';
import { type Component, createLifecycle, type Logger, type Metrics, type Tracer } from '@tollkeeper/runtime';
import type { KeysConfig } from './config.ts';
import { createKeyUseRecorder, type KeyUseRecorder } from './domain/key-use.recorder.ts';
import { createKeyUseCases, type KeyUseCases } from './domain/key.use-cases.ts';
import { createKeysHandlers } from './grpc/keys.handlers.ts';
import { createKeyRoutes } from './http/key.routes.ts';
import { createKeyStore } from './store/key.store.ts';

export interface KeysDeps {
  config: KeysConfig;
  logger: Logger;
  metrics: Metrics;
  tracer?: Tracer | undefined;
  clock?: Clock;
}

/** Workspace keys: their management over HTTP, their verification over gRPC. Addresses are valid once started. */
export interface KeysService extends Component {
  readonly httpUrl: string;
  readonly grpcAddress: string;
  /** For a process that runs this service in itself, such as to create the first key. Valid once started. */
  readonly useCases: KeyUseCases;
}

export function createKeys({ config, logger, metrics, tracer, clock = systemClock }: KeysDeps): KeysService {
  const { CALLER_TOKEN_SECRET: callerTokenSecret } = config;
  const mongo = connectMongo({ uri: config.MONGODB_URI, database: config.MONGODB_DATABASE, logger });
  const store = createKeyStore(mongo.connection);
  const uses = createKeyUseRecorder((batch) => store.recordUses(batch));
  const useCases = createKeyUseCases({ store, recordUse: uses.record, clock });
  const http = createHttpServer({
    routes: createKeyRoutes(useCases),
    info: { title: 'Tollkeeper workspace keys', version: '1' },
    service: 'keys',
    callerTokenSecret,
    host: config.HOST,
    port: config.HTTP_PORT,
    logger,
    metrics,
    tracer,
    explain: explainOutage,
  });
  const grpc = createGrpcServer({
    host: config.HOST,
    port: config.GRPC_PORT,
    services: [createKeysHandlers(useCases)],
    callerTokenSecret,
    logger,
    metrics,
    tracer,
    explain: explainOutage,
    ready: () => mongo.ping(),
  });
  // The servers stop first and the connection last, so that the uses of the last calls are still written.
  const flusher = createUseFlusher(uses, config.LAST_USED_FLUSH_MS, logger);
  const lifecycle = createLifecycle([mongo, flusher, grpc, http], logger, { name: 'keys' });

  return {
    ...lifecycle,
    useCases,
    get httpUrl() {
      return http.url;
    },
    get grpcAddress() {
      return grpc.address;
    },
  };
}

function createUseFlusher(uses: KeyUseRecorder, intervalMs: number, logger: Logger): Component {
  let timer: NodeJS.Timeout | undefined;
  const flush = (): Promise<void> =>
    uses.flush().catch((err: unknown) => logger.warn({ err }, 'last_used_at could not be written'));
  return {
    name: 'key-use-flusher',
    async start() {
      timer = setInterval(() => void flush(), intervalMs);
    },
    async stop() {
      clearInterval(timer);
      await flush();
    },
  };
}
