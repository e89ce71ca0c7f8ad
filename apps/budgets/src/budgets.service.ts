import { createAuditTrail } from '@tollkeeper/audit-trail';
import { identityService } from '@tollkeeper/contracts';
import { type EventLog, instrumentEventLog, observeOutboxes } from '@tollkeeper/event-log';
import { createGrpcClient, createGrpcServer } from '@tollkeeper/grpc';
import { createHttpServer } from '@tollkeeper/http';
import { type Clock, systemClock } from '@tollkeeper/kernel';
import { connectMongo, explainOutage } from '@tollkeeper/mongo';
import {
  assembleService,
  type Component,
  type ServesGrpc,
  type ServesHttp,
  type ServiceDeps,
} from '@tollkeeper/runtime';
import { createAgentDirectory } from './clients/identity.client.ts';
import type { BudgetsConfig } from './config.ts';
import { createBudgetUseCases } from './domain/budget.use-cases.ts';
import { createPlanUseCases } from './domain/plan.use-cases.ts';
import { createBudgetsHandlers } from './grpc/budgets.handlers.ts';
import { createBudgetRoutes } from './http/budget.routes.ts';
import { createHistoryRoutes } from './http/history.routes.ts';
import { createPlanRoutes } from './http/plan.routes.ts';
import { createBudgetStore } from './store/budget.store.ts';
import { createHistoryStore } from './store/history.store.ts';
import { createPlanStore } from './store/plan.store.ts';

export interface BudgetsDeps extends ServiceDeps<BudgetsConfig> {
  /** Started before the service and stopped after it. */
  eventLog: EventLog;
  clock?: Clock;
}

/** Manages daily budgets over HTTP and answers them over gRPC. Addresses are valid once started. */
export type BudgetsService = Component & ServesHttp & ServesGrpc;

export function createBudgets(deps: BudgetsDeps): BudgetsService {
  const { config, logger, metrics, tracer, clock = systemClock } = deps;
  const eventLog = instrumentEventLog(deps.eventLog, { metrics, tracer });
  const mongo = connectMongo({ uri: config.MONGODB_URI, database: config.MONGODB_DATABASE, logger });
  const identity = createGrpcClient(identityService, config.IDENTITY_GRPC, deps);
  const history = createHistoryStore(mongo.connection, clock);
  const trail = createAuditTrail({ connection: mongo.connection, eventLog, logger, clock });
  observeOutboxes({ metrics, logger, clock }, [trail.outbox]);
  const store = createBudgetStore(mongo.connection, history, trail);
  const budgets = createBudgetUseCases({ store, agents: createAgentDirectory(identity), clock });
  const planStore = createPlanStore(mongo.connection, history, trail);
  const plans = createPlanUseCases({ store: planStore, clock });
  const http = createHttpServer({
    ...deps,
    routes: [
      ...createBudgetRoutes(store, budgets),
      ...createPlanRoutes(planStore, plans),
      ...createHistoryRoutes(history),
    ],
    service: 'budgets',
    title: 'Tollkeeper budgets',
    explain: explainOutage,
  });
  const grpc = createGrpcServer({
    ...deps,
    services: [createBudgetsHandlers(store, planStore)],
    explain: explainOutage,
    ready: () => mongo.ping(),
  });
  // Without identity, only the calls about agents fail. So the service stays ready.
  return assembleService({ name: 'budgets', logger, parts: [mongo, identity, trail.outbox], grpc, http });
}
