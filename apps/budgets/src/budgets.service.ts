import { identityService } from '@tollkeeper/contracts';
import { createGrpcClient, createGrpcServer } from '@tollkeeper/grpc';
import { createHttpServer } from '@tollkeeper/http';
import { type Clock, systemClock } from '@tollkeeper/kernel';
import { connectMongo } from '@tollkeeper/mongo';
import { type Component, createLifecycle, type Logger, type Metrics, withoutReadiness } from '@tollkeeper/runtime';
import { createAgentDirectory } from './clients/identity.client.ts';
import type { BudgetsConfig } from './config.ts';
import { createBudgetUseCases } from './domain/budget.use-cases.ts';
import { createPlanUseCases } from './domain/plan.use-cases.ts';
import { createBudgetsHandlers } from './grpc/budgets.handlers.ts';
import { createBudgetRoutes } from './http/budget.routes.ts';
import { createPlanRoutes } from './http/plan.routes.ts';
import { createBudgetStore } from './store/budget.store.ts';
import { createPlanStore } from './store/plan.store.ts';

export interface BudgetsDeps {
  config: BudgetsConfig;
  logger: Logger;
  metrics: Metrics;
  clock?: Clock;
}

/** Daily budgets: their management over HTTP, their reading over gRPC. Addresses are valid once started. */
export interface BudgetsService extends Component {
  readonly httpUrl: string;
  readonly grpcAddress: string;
}

export function createBudgets({ config, logger, metrics, clock = systemClock }: BudgetsDeps): BudgetsService {
  const mongo = connectMongo({ uri: config.MONGODB_URI, database: config.MONGODB_DATABASE, logger });
  const identity = createGrpcClient(identityService, config.IDENTITY_GRPC, { peer: 'identity' });
  const budgets = createBudgetUseCases({
    store: createBudgetStore(mongo.connection),
    agents: createAgentDirectory(identity),
    clock,
  });
  const plans = createPlanUseCases({ store: createPlanStore(mongo.connection), clock });
  const http = createHttpServer({
    routes: [...createBudgetRoutes(budgets), ...createPlanRoutes(plans)],
    info: { title: 'Tollkeeper budgets', version: '1' },
    callerTokenSecret: config.CALLER_TOKEN_SECRET,
    host: config.HOST,
    port: config.HTTP_PORT,
    logger,
    metrics,
  });
  const grpc = createGrpcServer({
    host: config.HOST,
    port: config.GRPC_PORT,
    services: [createBudgetsHandlers(budgets)],
    logger,
    metrics,
    ready: () => mongo.ping(),
  });
  // Without identity only the calls about agents fail, so the rest stays in service.
  const lifecycle = createLifecycle([mongo, withoutReadiness(identity), grpc, http], logger, { name: 'budgets' });

  return {
    ...lifecycle,
    get httpUrl() {
      return http.url;
    },
    get grpcAddress() {
      return grpc.address;
    },
  };
}
