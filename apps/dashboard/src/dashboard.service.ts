import { budgetsService, identityService } from '@tollkeeper/contracts';
import { createConsumerGroup, type EventLog, instrumentEventLog } from '@tollkeeper/event-log';
import { createGrpcClient } from '@tollkeeper/grpc';
import { createHttpServer } from '@tollkeeper/http';
import { type Clock, systemClock } from '@tollkeeper/kernel';
import { connectMongo, explainOutage } from '@tollkeeper/mongo';
import { assembleService, type Component, inBackground, type ServesHttp, type ServiceDeps } from '@tollkeeper/runtime';
import { createBudgetsClient } from './clients/budgets.client.ts';
import { createDirectory } from './clients/identity.client.ts';
import type { DashboardConfig } from './config.ts';
import { CONSUMER_GROUP, createGatewayEventsConsumer } from './consumers/gateway-events.consumer.ts';
import { createReads } from './domain/reads.ts';
import { createTallies } from './domain/tallies.ts';
import { createAgentsRoutes } from './http/agents.routes.ts';
import { createBlockedRoutes } from './http/blocked.routes.ts';
import { createSpendRoutes } from './http/spend.routes.ts';
import { createWindowOf } from './http/window.ts';
import { createStores } from './store/stores.ts';

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
  const stores = createStores(connection, config.RETENTION_SECONDS);
  const consumer = createGatewayEventsConsumer({
    group: createConsumerGroup({ name: CONSUMER_GROUP, eventLog, connection, metrics, logger }),
    recorder: stores.recorder,
    metrics,
    logger,
    clock,
  });

  const identity = createGrpcClient(identityService, config.IDENTITY_GRPC, deps);
  const directory = createDirectory(identity, logger);
  const budgetsPeer = createGrpcClient(budgetsService, config.BUDGETS_GRPC, deps);
  const budgets = createBudgetsClient(budgetsPeer, logger);
  const windowOf = createWindowOf(directory, clock);
  const tallies = createTallies(stores);
  const reads = createReads();
  const { events } = stores;
  const http = createHttpServer({
    ...deps,
    routes: [
      ...createSpendRoutes({ reads, tallies, budgets, directory, windowOf }),
      ...createAgentsRoutes({ reads, tallies, events, budgets, directory, windowOf }),
      ...createBlockedRoutes({ reads, tallies, events, windowOf }),
    ],
    service: 'dashboard',
    title: 'Tollkeeper dashboard',
    explain: explainOutage,
  });

  // Events are counted without the peers, and requests that need a peer get its error. Without the log, answers contain
  // the events counted so far. So the service stays ready.
  const peers = [identity, budgetsPeer];
  const counting = inBackground(consumer, logger);
  const parts = [mongo, ...peers, counting];
  return Object.assign(assembleService({ name: 'dashboard', logger, parts, http }), { lag: consumer.lag });
}
