import { createAuditTrail } from '@tollkeeper/audit-trail';
import { budgetsService, GATEWAY_EVENTS_TOPIC, identityService, limitsService } from '@tollkeeper/contracts';
import { createConsumerGroup, observeOutboxes } from '@tollkeeper/event-log';
import { createGrpcClient, createGrpcServer } from '@tollkeeper/grpc';
import { createHttpServer } from '@tollkeeper/http';
import type { TenantId } from '@tollkeeper/kernel';
import { createAddressGuard } from '@tollkeeper/net';
import { createInstallationPrices, readOverrides } from '@tollkeeper/price-sources';
import {
  assembleService,
  type Component,
  createLoop,
  inBackground,
  type Logger,
  type Loop,
  type ServesGrpc,
  type ServesHttp,
} from '@tollkeeper/runtime';
import { createServiceBase, type DataServiceDeps } from '@tollkeeper/service';
import { createBudgetList } from './clients/budget-list.client.ts';
import { createBudgetsClient } from './clients/budgets.client.ts';
import { createRaisesGranted } from './clients/raises.client.ts';
import { createBudgetRisks } from './clients/enforcer.client.ts';
import { createDirectory } from './clients/identity.client.ts';
import { createTrackedLabels } from './clients/tracked-labels.client.ts';
import type { DashboardConfig } from './config.ts';
import { CONSUMER_GROUP, createGatewayEventsConsumer } from './consumers/gateway-events.consumer.ts';
import { createBudgetPreviews } from './domain/budget.previews.ts';
import { createExports } from './domain/exports.ts';
import { createReads } from './domain/reads.ts';
import { createTwiceReports } from './domain/reported-twice.ts';
import { createRepricingWorker, type RepricingWorker } from './repricing/repricing.worker.ts';
import { createSettlementList, waitForLog } from './domain/settlement.list.ts';
import { createStatements } from './domain/statement.ts';
import { createTallies, WHOLE_WORKSPACE } from './domain/tallies.ts';
import { createDashboardHandlers } from './grpc/dashboard.handlers.ts';
import { createAgentsRoutes } from './http/agents.routes.ts';
import { createBlockedRoutes } from './http/blocked.routes.ts';
import { toTimestamp } from './http/bodies.ts';
import { createExportRoute } from './http/export.routes.ts';
import { createExportText, type ExportText } from './http/export.text.ts';
import { createMediansRoute } from './http/medians.routes.ts';
import { createPreviewRoutes } from './http/preview.routes.ts';
import { createReconciliationRoutes } from './reconciliation/reconciliation.routes.ts';
import { createReconciliationStore } from './reconciliation/reconciliation.store.ts';
import { createRepricingRoutes } from './repricing/repricing.routes.ts';
import { createReportedTwiceRoute } from './http/reported-twice.routes.ts';
import { createScheduledExportRoutes } from './http/scheduled-exports.routes.ts';
import { createSelection } from './http/selection.ts';
import { createStatementRoute } from './http/statement.routes.ts';
import { createSpendRoutes } from './http/spend.routes.ts';
import { createWindowOf, type WindowOf } from './http/window.ts';
import { createRepricingStore } from './repricing/repricing.store.ts';
import { createScheduledExports } from './scheduled/scheduled-exports.ts';
import type { ScheduledFile } from './scheduled/scheduled-exports.worker.ts';
import { rollupSeconds } from './store/rollups/rollup.collection.ts';
import { createStores } from './store/stores.ts';

/** How often a process looks for jobs that others left. */
const REPRICING_EVERY_MS = 2_000;
const PRICES_DEADLINE_MS = 5_000;

export type DashboardDeps = DataServiceDeps<DashboardConfig>;

/** Counts the events of the log and answers the drilldowns. Addresses are valid once started. */
export interface DashboardService extends Component, ServesHttp, ServesGrpc {
  /** Records of the log that are not counted yet. A process waits for its own events with it. */
  lag(): Promise<number>;
}

export function createDashboard(deps: DashboardDeps): DashboardService {
  const base = createServiceBase('dashboard', deps);
  const { config, mongo, connection, logger, clock } = base;
  const stores = createStores(connection, config.RETENTION_SECONDS);
  const identity = createGrpcClient(identityService, config.IDENTITY_GRPC, base);
  const trackedLabels = createTrackedLabels(identity, logger);
  const consumer = createGatewayEventsConsumer({
    ...base,
    group: createConsumerGroup({ ...base, name: CONSUMER_GROUP }),
    recorder: stores.recorder,
    trackedLabels,
  });

  const directory = createDirectory(identity, logger);
  const budgetsPeer = createGrpcClient(budgetsService, config.BUDGETS_GRPC, base);
  const budgets = createBudgetsClient(budgetsPeer, logger);
  const enforcer = createGrpcClient(limitsService, config.ENFORCER_GRPC, base);
  const budgetRisks = createBudgetRisks(enforcer, logger);
  const budgetList = createBudgetList(budgetsPeer);
  const keptSeconds = rollupSeconds(config.RETENTION_SECONDS);
  const windowOf = createWindowOf(directory, clock, { events: config.RETENTION_SECONDS, rollups: keptSeconds });
  const selection = createSelection(trackedLabels);
  const tallies = createTallies(stores);
  const reads = createReads();
  const settlements = createSettlementList({ reader: stores.settlements, reads, caughtUp: consumer.caughtUp });
  const previews = createBudgetPreviews({
    ...{ reads, tallies, clock, reader: stores.settlements, retentionSeconds: config.RETENTION_SECONDS },
  });
  const counted = (tenantId: TenantId) => waitForLog(consumer.caughtUp, tenantId);
  const exports = createExports({ reads, tallies, reader: stores.settlements, counted });
  const statements = createStatements({
    ...{ reads, tallies, events: stores.events, budgetList, directory, trackedLabels, counted, clock },
    ...{ raisesGranted: createRaisesGranted(budgetsPeer), rollupSeconds: keptSeconds },
  });
  const trail = createAuditTrail(base);
  observeOutboxes(base, [trail.outbox]);
  const textOf = createExportText({ exports, directory, selection });
  const guard = createAddressGuard(config.DESTINATION_ALLOW_CIDRS);
  const scheduledText = scheduledTextOf(textOf, windowOf);
  const scheduled = createScheduledExports(base, { trail, directory, guard, textOf: scheduledText });
  const prices = createInstallationPrices({ config, logger, onRead: () => undefined });
  const overridesOf = (tenantId: TenantId) => readOverrides(budgetsPeer, tenantId, { deadlineMs: PRICES_DEADLINE_MS });
  const repricings = createRepricingStore(connection, trail, clock);
  const repricer = createRepricingWorker({
    ...{ store: repricings, reader: stores.settlements, reads, budgetList, overridesOf, prices, logger, clock },
    append: (records) => base.eventLog.append(GATEWAY_EVENTS_TOPIC, records),
    caughtUp: consumer.caughtUp,
  });
  const repricing = createRepricingLoop(repricer, logger);
  const http = createHttpServer({
    ...base,
    routes: [
      ...createSpendRoutes({ reads, tallies, budgets, budgetRisks, directory, windowOf, selection }),
      createExportRoute({ textOf, windowOf, selection, metrics: deps.metrics }),
      createStatementRoute(statements),
      ...createScheduledExportRoutes({
        ...{ store: scheduled.store, testBucket: scheduled.testBucket, onDue: scheduled.exporter.wake },
        ...{ selection, directory, clock, allowsAddress: guard.allows },
      }),
      ...createAgentsRoutes({ reads, tallies, events: stores.events, budgets, directory, windowOf }),
      ...createBlockedRoutes({ reads, tallies, events: stores.events, windowOf, selection }),
      ...createPreviewRoutes({ previews, directory }),
      ...createRepricingRoutes({
        ...{ store: repricings, reads, tallies, directory, clock, retentionSeconds: config.RETENTION_SECONDS },
        countOverrides: async (tenantId) => (await overridesOf(tenantId)).length,
        onCreated: repricing.wake,
      }),
      ...createReconciliationRoutes({
        ...{ store: createReconciliationStore(connection, trail, clock), reads, tallies, clock },
        rollupSeconds: keptSeconds,
      }),
      createReportedTwiceRoute(createTwiceReports({ reads, reader: stores.settlements, clock })),
      createMediansRoute({ reads, tallies, budgetList, directory, trackedLabels, clock }),
    ],
  });

  // Without its peers, the service still counts events, and only requests that need a peer fail. Without the log,
  // answers contain the events counted so far. So the service stays ready in both cases.
  const peers = [identity, budgetsPeer, enforcer];
  const counting = inBackground(consumer, logger);
  const parts = [mongo, ...peers, counting, trail.outbox, prices, repricing, scheduled.exporter];
  const grpc = createGrpcServer({ ...base, services: [createDashboardHandlers({ settlements })] });
  return Object.assign(assembleService({ ...base, parts, grpc, http }), { lag: consumer.lag });
}

/** Files of whole workspaces, as the export of the same span has them. */
function scheduledTextOf(textOf: ExportText, windowOf: WindowOf) {
  return async ({ tenantId, span, timezone, format, groupBy }: ScheduledFile, signal: AbortSignal) => {
    const window = await windowOf(tenantId, { from: toTimestamp(span.start), to: toTimestamp(span.end), timezone });
    const request = { tenantId, span: window, signal };
    return textOf(format, { request, window, subject: WHOLE_WORKSPACE, by: groupBy ?? undefined });
  };
}

/** Prices calls of all workspaces again, a job at a time. */
function createRepricingLoop(repricer: RepricingWorker, logger: Logger): Loop {
  const repricing = createLoop({
    name: 'repricing',
    intervalMs: REPRICING_EVERY_MS,
    logger,
    async work() {
      while (repricing.running && (await repricer.work(() => !repricing.running)));
    },
  });
  return repricing;
}
