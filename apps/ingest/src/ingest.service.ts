import { GATEWAY_EVENTS_TOPIC, GATEWAY_EVENTS_TOPIC_OPTIONS, keysService } from '@tollkeeper/contracts';
import { type EventLog, instrumentEventLog } from '@tollkeeper/event-log';
import { createGrpcClient } from '@tollkeeper/grpc';
import { createHttpServer } from '@tollkeeper/http';
import { type Clock, systemClock } from '@tollkeeper/kernel';
import { type Component, createLifecycle, type Logger, type Metrics, type Tracer } from '@tollkeeper/runtime';
import { createKeyVerifier } from './clients/key.verifier.ts';
import type { IngestConfig } from './config.ts';
import { createEventIntake } from './domain/event.intake.ts';
import { createEventRoutes } from './http/event.routes.ts';
import { createKeyAuthenticator } from './http/key.authenticator.ts';

export interface IngestDeps {
  config: IngestConfig;
  logger: Logger;
  metrics: Metrics;
  tracer?: Tracer | undefined;
  /** Started before this service and stopped after it. */
  eventLog: EventLog;
  clock?: Clock;
  /** Monotonic milliseconds. */
  now?: () => number;
}

/** Event ingestion: from a workspace key and CloudEvents to durable records of the log. `httpUrl` is valid once started. */
export interface IngestService extends Component {
  readonly httpUrl: string;
}

export function createIngest({
  config,
  logger,
  metrics,
  tracer,
  eventLog: log,
  clock = systemClock,
  now = () => performance.now(),
}: IngestDeps): IngestService {
  const { CALLER_TOKEN_SECRET: callerTokenSecret } = config;
  const eventLog = instrumentEventLog(log, { metrics, tracer });
  const keys = createGrpcClient(keysService, config.KEYS_GRPC, { peer: 'keys', callerTokenSecret, metrics, tracer });
  const accepted = metrics.counter({ name: 'ingest_events_accepted_total', help: 'Events that the log has durably' });
  const intake = createEventIntake({
    clock,
    async append(records) {
      await eventLog.append(GATEWAY_EVENTS_TOPIC, records);
      accepted.inc(records.length);
    },
  });
  const http = createHttpServer({
    routes: createEventRoutes({
      intake,
      authenticator: createKeyAuthenticator(createKeyVerifier(keys, now)),
      clock,
    }),
    info: { title: 'Tollkeeper event ingestion', version: '1' },
    service: 'ingest',
    callerTokenSecret,
    host: config.HOST,
    port: config.HTTP_PORT,
    logger,
    metrics,
    tracer,
    bodyBudgetBytes: config.BODY_BUDGET_BYTES,
  });
  const topic: Component = {
    name: 'events-topic',
    start: () => eventLog.ensureTopic(GATEWAY_EVENTS_TOPIC_OPTIONS),
    async stop() {},
  };
  // Without keys a request is refused unless its key was checked a moment ago; that is for the answer to say.
  const lifecycle = createLifecycle([topic, keys, http], logger, { name: 'ingest' });

  return {
    ...lifecycle,
    get httpUrl() {
      return http.url;
    },
  };
}
