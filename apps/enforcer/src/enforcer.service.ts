import { createAuditTrail } from '@tollkeeper/audit-trail';
import {
  budgetsService,
  dashboardService,
  encodeGatewayEvent,
  GATEWAY_EVENTS_TOPIC,
  identityService,
  keysService,
} from '@tollkeeper/contracts';
import { createAgentLabels } from '@tollkeeper/agent-labels';
import { createConsumerGroup, type EventLog, observeOutboxes } from '@tollkeeper/event-log';
import { createGrpcClient, createGrpcServer } from '@tollkeeper/grpc';
import { createHttpServer } from '@tollkeeper/http';
import type { Clock } from '@tollkeeper/kernel';
import {
  assembleService,
  type Component,
  inBackground,
  type Logger,
  type ServesGrpc,
  type ServesHttp,
} from '@tollkeeper/runtime';
import { createServiceBase, type DataServiceDeps } from '@tollkeeper/service';
import { createReportKeeper } from '@tollkeeper/workspace-keys';
import { createAdapters } from './adapters/adapters.ts';
import { createReportRoom } from './adapters/report.room.ts';
import { createAgentRegistrar } from './clients/agent.registrar.ts';
import { createBudgetSource } from './clients/budget.source.ts';
import { createSettlementSource } from './clients/settlement.source.ts';
import { createLimitSource } from './clients/limit.source.ts';
import { createTimezoneSource } from './clients/timezone.source.ts';
import type { EnforcerConfig } from './config.ts';
import { CONSUMER_GROUP, createGatewayEventsConsumer } from './consumers/gateway-events.consumer.ts';
import { createBudgetFiller } from './domain/budget.filler.ts';
import { createDenialReporter, type DenialReporter } from './domain/denial.reporter.ts';
import type { Limits, Reservations } from './domain/enforcement.ts';
import type { Leases } from './domain/lease.ts';
import { createLimits } from './domain/limit.use-cases.ts';
import { createLeases } from './domain/lease.use-cases.ts';
import { createReservations } from './domain/reservation.use-cases.ts';
import { createThresholdReporter } from './domain/threshold.reporter.ts';
import { createUnreservedSpend } from './domain/unreserved.spend.ts';
import type { AppendEvents } from './domain/workspace.appends.ts';
import {
  createAccessLogTelemetry,
  createDecisionTelemetry,
  createFillTelemetry,
  createOverQuota,
  createThresholdTelemetry,
} from './enforcer.telemetry.ts';
import { createEnforcerHandlers, MAX_REQUEST_BYTES } from './grpc/enforcer.handlers.ts';
import { createLeaseHandlers } from './grpc/lease.handlers.ts';
import { createLimitsHandlers } from './grpc/limits.handlers.ts';
import { createLeaseRoutes } from './http/lease.routes.ts';
import { createLimitRoutes } from './http/limit.routes.ts';
import { createRaiseAllowance } from './http/raise.allowance.ts';
import { createRaiseRoutes, type RaiseRouteDeps } from './http/raise.routes.ts';
import { createReservationRoutes } from './http/reservation.routes.ts';
import { createKeyAccess, type KeyAccess } from './key.access.ts';
import { createLedgers, type Ledgers } from './ledger/ledgers.ts';
import { createCallPrices } from './prices/call.prices.ts';
import { createJournalStore } from './store/journal.store.ts';
import { createSnapshotStore } from './store/snapshot.store.ts';

export interface EnforcerDeps extends DataServiceDeps<EnforcerConfig> {
  /** Monotonic milliseconds. */
  now?: () => number;
}

/** Grants spend before a call, so that budgets hold. Addresses are valid once started. */
export interface EnforcerService extends Component, ServesHttp, ServesGrpc {
  /** For a process that embeds this service. */
  readonly reservations: Reservations;
}

/** A gateway gets its answer within a second. This is the share for checking its key. */
const KEY_DEADLINE_MS = 300;
/** Its share for the labels of its agent. They are asked for together with the limits. */
const LABELS_DEADLINE_MS = 200;

export function createEnforcer(deps: EnforcerDeps): EnforcerService {
  const base = createServiceBase('enforcer', deps);
  const { config, mongo, connection, eventLog, logger, metrics, clock } = base;
  const { now = () => performance.now() } = deps;
  const trail = createAuditTrail(base);
  observeOutboxes(base, [trail.outbox]);
  const journal = createJournalStore(connection, trail);

  const keys = createGrpcClient(keysService, config.KEYS_GRPC, { ...base, deadlineMs: KEY_DEADLINE_MS });
  const budgets = createGrpcClient(budgetsService, config.BUDGETS_GRPC, base);
  const identity = createGrpcClient(identityService, config.IDENTITY_GRPC, base);
  const dashboard = createGrpcClient(dashboardService, config.DASHBOARD_GRPC, base);
  const limitSource = createLimitSource({ budgets, logger, metrics, now });
  const budgetSource = createBudgetSource({ budgets, logger, now });
  const prices = createCallPrices({ ...base, budgets, now });

  const ledgers: Ledgers = createLedgers({
    journal,
    snapshots: createSnapshotStore(connection),
    ...createTimezoneSource(identity, logger),
    budgetBytes: config.LEDGER_BUDGET_BYTES,
    onInexact: (tenantId) => filler.wake(tenantId),
    metrics,
    clock,
    now,
    logger,
  });
  const common = {
    submit: ledgers.submit,
    append: createAppend(eventLog, clock),
    limits: limitSource,
    budgets: budgetSource,
    clock,
  };
  const overQuota = createOverQuota(metrics);
  const telemetry = createDecisionTelemetry({ metrics, overQuota, logger, now });
  const denials = createDenialReporter({ ...common, ...telemetry });
  const granting = {
    ...common,
    ...telemetry,
    denials,
    agents: createAgentRegistrar({ identity, logger, now }),
    agentLabels: createAgentLabels({ identity, deadlineMs: LABELS_DEADLINE_MS, logger, now }),
  };
  const reservations = createReservations(granting);
  const leases = createLeases(granting);
  const limits = createLimits({ ...common, grants: journal });
  const thresholds = createThresholdReporter({ ...common, ...createThresholdTelemetry({ logger, now }) });
  const filler = createBudgetFiller({
    ...common,
    ...createFillTelemetry({ metrics, logger, now }),
    settlements: createSettlementSource(dashboard),
    thresholds,
  });
  const consumer = createGatewayEventsConsumer({
    ...common,
    thresholds,
    group: createConsumerGroup({ ...base, name: CONSUMER_GROUP }),
    metrics,
  });

  const access = createKeyAccess({ config, keys, refused: overQuota.labels({ quota: 'calls' }), logger, now });
  const allow = createRaiseAllowance({ refused: overQuota.labels({ quota: 'raises' }), now });
  const unreserved = createUnreservedSpend(granting);
  const show = createReportKeeper({ keys, clock, now, logger });
  const ofLogs = createAccessLogTelemetry({ metrics, logger, now });
  const room = createReportRoom({ refused: overQuota.labels({ quota: 'report_bytes' }), logger, now });
  const adapters = createAdapters({ ...common, ...ofLogs, reservations, unreserved, prices, access, show, room });
  const { http, grpc } = createServers(base, { reservations, leases, limits, access, adapters, budgets, allow });
  // Not required to be ready: reservations are decided without the log, and without the peers on cached data.
  const reporters = [toComponent(denials, logger), { name: 'threshold-reporter', ...thresholds }];
  const filling = { name: 'budget-filler', start: async () => undefined, stop: filler.stop };
  const peers = [keys, budgets, identity, dashboard];
  const parts = [mongo, trail.outbox, ...peers, prices, ledgers, ...reporters, filling, inBackground(consumer, logger)];
  const service = assembleService({ ...base, parts, grpc, http });
  return Object.assign(service, { reservations });
}

/** What the service serves. */
interface Served {
  reservations: Reservations;
  leases: Leases;
  limits: Limits;
  adapters: ReturnType<typeof createAdapters>;
  access: KeyAccess;
  budgets: RaiseRouteDeps['budgets'];
  allow: RaiseRouteDeps['allow'];
}

function createServers(
  base: ReturnType<typeof createServiceBase<EnforcerConfig>>,
  { reservations, leases, limits, adapters, access, budgets, allow }: Served,
) {
  const authenticator = access.grpc;
  const http = createHttpServer({
    ...base,
    routes: [
      ...createReservationRoutes({ reservations, access: access.http }),
      ...createLeaseRoutes({ leases, limits, access: access.http, chargeSettlements: access.chargeSettlements }),
      ...createLimitRoutes({ limits, reservations }),
      ...createRaiseRoutes({ budgets, access: access.http, allow }),
      ...adapters.routes,
    ],
  });
  const grpc = createGrpcServer({
    ...base,
    services: [
      createEnforcerHandlers({ reservations, authenticator }),
      createLeaseHandlers({ leases, authenticator, chargeSettlements: access.chargeSettlements }),
      createLimitsHandlers({ limits }),
      ...adapters.services,
    ],
    maxRequestBytes: MAX_REQUEST_BYTES,
  });
  return { http, grpc };
}

function createAppend(eventLog: EventLog, clock: Clock): AppendEvents {
  return async (tenantId, events) => {
    const receivedAt = new Date(clock()).toISOString();
    const records = events.map((event) => encodeGatewayEvent({ tenantId, receivedAt, ...event }));
    await eventLog.append(GATEWAY_EVENTS_TOPIC, records);
  };
}

/** Has no start, since the first denial starts it. */
function toComponent(denials: DenialReporter, logger: Logger): Component {
  return {
    name: 'denials',
    async start() {},
    stop: () =>
      denials.stop().catch((err: unknown) => logger.warn({ err }, 'some denials were not reported before shutdown')),
  };
}
