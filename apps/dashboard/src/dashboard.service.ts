import { budgetsService, identityService } from '@tollkeeper/contracts';
import { createConsumerGroup, type EventLog, instrumentEventLog } from '@tollkeeper/event-log';
import { createGrpcClient } from '@tollkeeper/grpc';
import { createHttpServer } from '@tollkeeper/http';
import { type Clock, systemClock } from '@tollkeeper/kernel';
import { connectMongo, explainOutage } from '@tollkeeper/mongo';
import {
  assembleService,
  type Component,
  inBackground,
  type Logger,
  type ServesHttp,
  type ServiceDeps,
} from '@tollkeeper/runtime';
import { createBudgetsClient } from './clients/budgets.client.ts';
import { createDirectory } from './clients/identity.client.ts';
import type { DashboardConfig } from './config.ts';
import { CONSUMER_GROUP, createGatewayEventsConsumer } from './consumers/gateway-events.consumer.ts';
import { createTallies } from './domain/tallies.ts';
import { createAgentsRoutes } from './http/agents.routes.ts';
import { createBlockedRoutes } from './http/blocked.routes.ts';
import { createSpendRoutes } from './http/spend.routes.ts';
import { createWindowOf } from './http/window.ts';
import { createBucketStore } from './store/bucket.store.ts';
import { createChunkStore } from './store/chunk.store.ts';
import { createChunkTallies } from './store/chunk.tallies.ts';
import { createEarlierForm, type EarlierForm } from './store/earlier.form.ts';
import { createEventReader } from './store/event.reader.ts';
import { createEventRecorder } from './store/event.recorder.ts';
import { createEventStore } from './store/event.store.ts';
import { createRollupStore } from './store/rollup.store.ts';
import { createRunStore } from './store/run.store.ts';

export interface DashboardDeps extends ServiceDeps<DashboardConfig> {
  /** Started before the service and stopped after it. */
  eventLog: EventLog;
  clock?: Clock;
}

/** Counts the events of the log and answers the drilldowns. `httpUrl` is valid once started. */
export interface DashboardService extends Component, ServesHttp {
  /** Records of the log that are not counted yet, for a process that waits for its own events. */
  lag(): Promise<number>;
}

export function createDashboard(deps: DashboardDeps): DashboardService {
  const { config, logger, metrics, tracer, clock = systemClock } = deps;
  const eventLog = instrumentEventLog(deps.eventLog, { metrics, tracer });
  const mongo = connectMongo({ uri: config.MONGODB_URI, database: config.MONGODB_DATABASE, logger });
  const { connection } = mongo;
  const events = createEventStore(connection, config.RETENTION_SECONDS);
  const chunks = createChunkStore(connection, config.RETENTION_SECONDS);
  const runs = createRunStore(connection, config.RETENTION_SECONDS);
  const rollups = createRollupStore(connection, config.RETENTION_SECONDS);
  const earlier = createBucketStore(connection);
  const consumer = createGatewayEventsConsumer({
    group: createConsumerGroup({ name: CONSUMER_GROUP, eventLog, connection, metrics, logger }),
    recorder: createEventRecorder({ events, chunks, runs, rollups }),
    metrics,
    clock,
  });

  const identity = createGrpcClient(identityService, config.IDENTITY_GRPC, deps);
  const directory = createDirectory(identity, logger);
  const budgetsPeer = createGrpcClient(budgetsService, config.BUDGETS_GRPC, deps);
  const budgets = createBudgetsClient(budgetsPeer, logger);
  const windowOf = createWindowOf(directory, clock);
  const tallies = createTallies({
    tallies: [rollups, earlier, events, createChunkTallies(chunks)],
    runStarts: [rollups, earlier, runs, chunks],
  });
  const reader = createEventReader({ events, chunks });
  const http = createHttpServer({
    ...deps,
    routes: [
      ...createSpendRoutes({ tallies, budgets, directory, windowOf }),
      ...createAgentsRoutes({ tallies, events: reader, budgets, directory, windowOf }),
      ...createBlockedRoutes({ tallies, events: reader, windowOf }),
    ],
    service: 'dashboard',
    title: 'Tollkeeper dashboard',
    explain: explainOutage,
  });

  // Events are counted without the peers, and requests that need a peer get its error. Without the log, answers contain
  // the events counted so far. So the service stays ready.
  const peers = [identity, budgetsPeer];
  const counting = inBackground(consumer, logger);
  const form = createEarlierForm(connection, { chunks, rollups });
  const parts = [mongo, inBackground(tellOfEarlierForm(form, logger), logger), ...peers, counting];
  return Object.assign(assembleService({ name: 'dashboard', logger, parts, http }), { lag: consumer.lag });
}

function tellOfEarlierForm(form: EarlierForm, logger: Logger): Component {
  return {
    name: 'look for what 0.1 stored',
    async start() {
      if (!(await form.isThere())) return;
      logger.info(
        'Part of the database is in the form of release 0.1. It is read as it is, but is larger and slower. To pack it, ' +
          'run `node migrate.js` in this container, or `npm run migrate -w @tollkeeper/dashboard`.',
      );
    },
    async stop() {},
  };
}
