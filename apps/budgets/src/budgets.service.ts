import { identityService } from '@tollkeeper/contracts';
import { createGrpcClient, createGrpcServer } from '@tollkeeper/grpc';
import { createHttpServer } from '@tollkeeper/http';
import { type Clock, systemClock } from '@tollkeeper/kernel';
import { connectMongo, explainOutage } from '@tollkeeper/mongo';
import { type Component, createLifecycle, type Logger, type Metrics, type Tracer } from '@tollkeeper/runtime';
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
  tracer?: Tracer | undefined;
  clock?: Clock;
}

/** Daily budgets: their management over HTTP, their reading over gRPC. Addresses are valid once started. */
export interface BudgetsService extends Component {
  readonly httpUrl: string;
  readonly grpcAddress: string;
}

export function createBudgets({ config, logger, metrics, tracer, clock = systemClock }: BudgetsDeps): BudgetsService {
  const { CALLER_TOKEN_SECRET: callerTokenSecret } = config;
  const mongo = connectMongo({ uri: config.MONGODB_URI, database: config.MONGODB_DATABASE, logger });
  const identity = createGrpcClient(identityService, config.IDENTITY_GRPC, {
    peer: 'identity',
    callerTokenSecret,
    metrics,
    tracer,
  });
  const budgets = createBudgetUseCases({
    store: createBudgetStore(mongo.connection),
    agents: createAgentDirectory(identity),
    clock,
  });
  const plans = createPlanUseCases({ store: createPlanStore(mongo.connection), clock });
  const http = createHttpServer({
    routes: [...createBudgetRoutes(budgets), ...createPlanRoutes(plans)],
    info: { title: 'Tollkeeper budgets', version: '1' },
    service: 'budgets',
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
    services: [createBudgetsHandlers(budgets)],
    callerTokenSecret,
    logger,
    metrics,
    tracer,
    explain: explainOutage,
    ready: () => mongo.ping(),
  });
  // Without identity only the calls about agents fail, so the rest stays in service.
  const lifecycle = createLifecycle([mongo, identity, grpc, http], logger, { name: 'budgets' });

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
