import { createAuditTrail } from '@tollkeeper/audit-trail';
import { checkRaiseLink, GATEWAY_EVENTS_TOPIC_OPTIONS, identityService } from '@tollkeeper/contracts';
import { createOutbox, observeOutboxes } from '@tollkeeper/event-log';
import { createGrpcClient, createGrpcServer } from '@tollkeeper/grpc';
import { createHttpServer } from '@tollkeeper/http';
import { readBundledTable } from '@tollkeeper/prices';
import { assembleService, type Component, createLoop, type ServesGrpc, type ServesHttp } from '@tollkeeper/runtime';
import { createServiceBase, type DataServiceDeps } from '@tollkeeper/service';
import { createAgentDirectory } from './clients/identity.client.ts';
import type { BudgetsConfig } from './config.ts';
import { createBudgetSource } from './domain/budget.source.ts';
import { createBudgetUseCases } from './domain/budget.use-cases.ts';
import { createAgentSource, createPlanSource, createWorkspaceSource } from './domain/daily-budget.sources.ts';
import { createDailyBudgetUseCases } from './domain/daily-budget.use-cases.ts';
import { createPauseUseCases } from './domain/pause.use-cases.ts';
import { createPlanUseCases } from './domain/plan.use-cases.ts';
import { createRaiseUseCases } from './domain/raise.use-cases.ts';
import { createBudgetsHandlers } from './grpc/budgets.handlers.ts';
import { createBudgetRoutes } from './http/budget.routes.ts';
import { createDailyBudgetRoutes } from './http/daily-budget.routes.ts';
import { createHistoryRoutes } from './http/history.routes.ts';
import { createPauseRoutes } from './http/pause.routes.ts';
import { createPlanRoutes } from './http/plan.routes.ts';
import { createRaiseRoutes } from './http/raise.routes.ts';
import { createPriceList } from './prices/price.list.ts';
import { createPriceRoutes } from './prices/price.routes.ts';
import { createPriceStore } from './prices/price.store.ts';
import { createTableList } from './prices/table.list.ts';
import { createBudgetStore } from './store/budget.store.ts';
import { createDailyBudgetStore } from './store/daily-budget.store.ts';
import { createHistoryStore } from './store/history.store.ts';
import { createPauseStore } from './store/pause.store.ts';
import { createPlanStore } from './store/plan.store.ts';
import { createRaiseStore } from './store/raise.store.ts';

export type BudgetsDeps = DataServiceDeps<BudgetsConfig>;

/** Manages budgets over HTTP and serves them over gRPC. Addresses are valid once started. */
export type BudgetsService = Component & ServesHttp & ServesGrpc;

/** How soon the audit log has the end of a raise. */
const ENDS_INTERVAL_MS = 1_000;

export function createBudgets(deps: BudgetsDeps): BudgetsService {
  const base = createServiceBase('budgets', deps);
  const { config, mongo, connection, clock } = base;
  const identity = createGrpcClient(identityService, config.IDENTITY_GRPC, base);
  const history = createHistoryStore(connection, clock);
  const trail = createAuditTrail(base);
  const requests = createOutbox({ ...base, topic: GATEWAY_EVENTS_TOPIC_OPTIONS, collection: 'raise_outbox' });
  observeOutboxes(base, [trail.outbox, requests]);
  const stores = {
    budgets: createBudgetStore(connection, history, trail),
    daily: createDailyBudgetStore(connection, history, trail),
    plans: createPlanStore(connection, history, trail),
    prices: createPriceStore(connection, trail, clock),
    pauses: createPauseStore(connection, trail),
    raises: createRaiseStore(connection, trail, requests),
  };
  const agents = createAgentDirectory(identity);
  const budgets = createBudgetUseCases({
    none: createBudgetSource({ store: stores.budgets, clock }),
    workspace: createWorkspaceSource(stores.daily),
    agent: createAgentSource({ store: stores.daily, agents, clock }),
    plan: createPlanSource({ store: stores.plans, clock }),
  });
  const dailyBudgets = createDailyBudgetUseCases({ store: stores.daily, agents, clock });
  const plans = createPlanUseCases({ store: stores.plans, clock });
  const pauses = createPauseUseCases({ store: stores.pauses, clock });
  const raises = createRaiseUseCases({
    store: stores.raises,
    budgets,
    checkLink: (tenantId, raiseId, token, now) =>
      checkRaiseLink(config.CALLER_TOKEN_SECRET, { tenantId, raiseId }, token, now),
    clock,
  });
  const ends = createLoop({ ...base, name: 'ends of raises', work: raises.recordEnds, intervalMs: ENDS_INTERVAL_MS });
  const http = createHttpServer({
    ...base,
    routes: [
      ...createDailyBudgetRoutes(stores.daily, dailyBudgets),
      ...createPlanRoutes(stores.plans, plans),
      ...createHistoryRoutes(history),
      ...createBudgetRoutes(budgets, raises),
      ...createPauseRoutes(pauses),
      ...createRaiseRoutes(raises, clock),
      ...createPriceRoutes({
        store: stores.prices,
        overrides: createPriceList(stores.prices),
        table: createTableList(readBundledTable()),
      }),
    ],
  });
  const grpc = createGrpcServer({ ...base, services: [createBudgetsHandlers({ ...stores, pauses, raises, clock })] });
  // Identity is not required to be ready: without it, only the calls about agents fail.
  return assembleService({ ...base, parts: [mongo, identity, trail.outbox, requests, ends], grpc, http });
}
