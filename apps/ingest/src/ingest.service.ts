import { createAgentLabels } from '@tollkeeper/agent-labels';
import {
  budgetsService,
  DEFAULT_REPORT_MAPPING,
  GATEWAY_EVENTS_TOPIC,
  GATEWAY_EVENTS_TOPIC_OPTIONS,
  identityService,
  intakePathOf,
  keysService,
} from '@tollkeeper/contracts';
import { type EventLog, instrumentEventLog } from '@tollkeeper/event-log';
import { createGrpcClient } from '@tollkeeper/grpc';
import { createHttpServer } from '@tollkeeper/http';
import { type Clock, createTurns, systemClock, type TenantId } from '@tollkeeper/kernel';
import { createInstallationPrices, createPriceListGauge, createWorkspacePrices } from '@tollkeeper/price-sources';
import { bundledPrices } from '@tollkeeper/prices';
import {
  assembleService,
  type Component,
  type ServesGrpc,
  type ServesHttp,
  type ServiceDeps,
} from '@tollkeeper/runtime';
import {
  createKeyAuthenticator,
  createKeyCheck,
  createKeyVerifier,
  createReportKeeper,
  createWorkspaceQuota,
  type VerifiedKey,
  type WorkspaceQuota,
} from '@tollkeeper/workspace-keys';
import { createWorkspacePlans } from './clients/workspace.plans.ts';
import type { IngestConfig } from './config.ts';
import { createEventIntake, type ReportingKey } from './domain/event.intake.ts';
import { createEventRoutes } from './http/event.routes.ts';
import { createOtlpRpcs } from './grpc/otlp.rpcs.ts';
import { createReporterServer } from './grpc/reporter.server.ts';
import { createIntakeRoutes } from './http/intake.routes.ts';
import { createReporterAuthenticator } from './http/reporter.authenticator.ts';
import { CALL_FATES, type CallFate, createCallIntake } from './intake/call.intake.ts';
import { MAX_OTLP_RATIO } from './intake/decode.ts';
import { createReporterErrors } from './intake/reporter.errors.ts';

export interface IngestDeps extends ServiceDeps<IngestConfig> {
  /** Start it before this service and stop it afterwards. */
  eventLog: EventLog;
  clock?: Clock;
  /** Monotonic milliseconds. */
  now?: () => number;
}

/** A gateway may wait, and sends its events again if they are refused: so a busy identity refuses none. */
const LABELS_DEADLINE_MS = 2_000;
/** The same for budgets. Together they leave time to store the calls: a sender of telemetry is answered within 5 s. */
const BUDGETS_DEADLINE_MS = 1_500;

/** Most bytes of small bodies that are taken at a time. Records take up to twenty times the memory of their text. */
const SMALL_BODIES = { capacity: 2 * 1024 * 1024, ofSender: 8 };
/** The same for large ones, as a share of the memory for bodies. */
const LARGE_BODIES_SHARE = 1 / 8;

/**
 * Accepts events as CloudEvents, and calls as OTLP or LiteLLM's callback, with a workspace key, and appends events to
 * the log. `httpUrl`, and `grpcAddress` of OTLP over gRPC, are valid once started.
 */
export interface IngestService extends Component, ServesGrpc, ServesHttp {
  /** Takes OTLP/JSON traces of a workspace of the same process, as `/v1/traces` does with a key. */
  reportTraces(tenantId: TenantId, body: Buffer): Promise<void>;
}

export function createIngest(deps: IngestDeps): IngestService {
  const { config, logger, metrics, tracer, clock = systemClock, now = () => performance.now() } = deps;
  const eventLog = instrumentEventLog(deps.eventLog, { metrics, tracer });
  const keys = createGrpcClient(keysService, config.KEYS_GRPC, deps);
  const identity = createGrpcClient(identityService, config.IDENTITY_GRPC, deps);
  const budgets = createGrpcClient(budgetsService, config.BUDGETS_GRPC, deps);
  const accepted = metrics.counter({ name: 'ingest_events_accepted_total', help: 'Events stored durably in the log' });
  const quotas = createQuotas({ config, metrics, logger, now });
  const intake = createEventIntake({
    ...createAgentLabels({ identity, deadlineMs: LABELS_DEADLINE_MS, logger, now }),
    clock,
    oweBytes: quotas.bytes.owe,
    async append(records) {
      await eventLog.append(GATEWAY_EVENTS_TOPIC, records);
      accepted.inc(records.length);
    },
  });
  const quota: Pick<WorkspaceQuota, 'admit'> = {
    admit(tenantId, requests) {
      // A body is charged when it has arrived. Before that, only workspaces with nothing left are refused.
      quotas.bytes.admit(tenantId, 0);
      quotas.events.admit(tenantId, requests);
    },
  };
  const check = createKeyCheck({ verify: createKeyVerifier(keys, now), action: 'post events', quota });
  const prices = createInstallationPrices({ config, logger, onRead: createPriceListGauge('ingest', metrics) });
  // Read now, since it would delay other requests later.
  bundledPrices();
  const calls = createCallIntake<ReportingKey & Pick<VerifiedKey, 'watched' | 'reports'>>({
    accept: intake.accept,
    chargeEvents: quotas.events.charge,
    oweEvents: quotas.events.owe,
    count: createCallCounter(deps),
    countPlansLeftOut: createPlanCounter(deps),
    show: createReportKeeper({ keys, clock, now, logger }),
    ...createWorkspacePrices({ budgets, deadlineMs: BUDGETS_DEADLINE_MS, logger, now }),
    ...createWorkspacePlans({ budgets, deadlineMs: BUDGETS_DEADLINE_MS, logger, now }),
    prices,
    turns: {
      small: createTurns(SMALL_BODIES),
      large: createTurns({ capacity: config.BODY_BUDGET_BYTES * LARGE_BODIES_SHARE, ofSender: 1 }),
    },
    clock,
  });
  const reporters = createReporterAuthenticator(check);
  const http = createHttpServer({
    ...deps,
    routes: [
      ...createEventRoutes({ intake, authenticator: createKeyAuthenticator(check), quotas, clock }),
      ...createIntakeRoutes({ intake: calls, authenticator: reporters, quotas }),
    ],
    name: 'ingest',
    resendsAfter503: (path) => intakePathOf(path) !== undefined,
    bodyBudgetBytes: config.BODY_BUDGET_BYTES,
  });
  const errors = createReporterErrors({ overQuota: 'rate_limited' });
  const otlp = createReporterServer<VerifiedKey>({
    ...deps,
    ...reporters,
    rpcs: createOtlpRpcs({ intake: calls, errors }),
    chargeBytes: ({ tenantId }, bytes) => quotas.bytes.charge(tenantId, bytes),
    errors,
    maxRatio: MAX_OTLP_RATIO,
    // One memory for all bodies, however they come.
    bodies: http.bodies,
    countRefusal: http.countRefusal,
  });
  const topic: Component = {
    name: 'events-topic',
    start: () => eventLog.ensureTopic(GATEWAY_EVENTS_TOPIC_OPTIONS),
    async stop() {},
  };
  // Peers are not required to be ready. Without keys, only keys verified in the last seconds are accepted; without
  // identity, only events of agents whose labels are known; without budgets, only calls with a cost, and calls of
  // workspaces whose prices are known. All other requests are answered accordingly.
  const parts = [prices, topic, keys, identity, budgets];
  return Object.assign(assembleService({ name: 'ingest', logger, parts, grpc: otlp, http }), {
    async reportTraces(tenantId: TenantId, bytes: Buffer) {
      const key = { tenantId, keyId: undefined, labels: {}, watched: false, reports: DEFAULT_REPORT_MAPPING };
      const options = { path: '/v1/traces', agent: undefined, signal: new AbortController().signal };
      await calls.takeOtlp(key, { bytes, signal: 'span', encoding: 'json' }, options);
    },
  });
}

function createCallCounter({ metrics }: IngestDeps): (fate: CallFate, calls: number) => void {
  const reported = metrics.counter({
    name: 'ingest_reported_calls_total',
    help: 'Calls reported by OTLP or LiteLLM, by what became of them',
    labelNames: ['outcome'],
  });
  for (const outcome of CALL_FATES) reported.inc({ outcome }, 0);
  return (outcome, calls) => reported.inc({ outcome }, calls);
}

function createPlanCounter({ metrics }: IngestDeps): (calls: number) => void {
  const leftOut = metrics.counter({
    name: 'ingest_reported_plans_left_out_total',
    help: 'Reported calls that were taken without the plan that they name, because the workspace has no such plan',
  });
  return (calls) => leftOut.inc(calls);
}

function createQuotas({ config, metrics, logger, now }: Omit<IngestDeps, 'eventLog' | 'now'> & { now: () => number }) {
  const overQuota = metrics.counter({
    name: 'ingest_requests_over_quota_total',
    help: 'Requests refused because the workspace exceeded a quota, by quota',
    labelNames: ['quota'],
  });
  const create = (quota: 'events' | 'bytes', perSecond: number, burst: number) => {
    overQuota.inc({ quota }, 0);
    return createWorkspaceQuota({
      perSecond,
      burst,
      refusal:
        `The workspace may send ${perSecond} ${quota} per second, or ${burst} at once after a pause. ` +
        'None of these events were accepted.',
      warning: `a workspace sends more ${quota} than WORKSPACE_${quota.toUpperCase()}_PER_SECOND allows`,
      refused: overQuota.labels({ quota }),
      logger,
      now,
    });
  };
  return {
    events: create('events', config.WORKSPACE_EVENTS_PER_SECOND, config.WORKSPACE_BURST_EVENTS),
    bytes: create('bytes', config.WORKSPACE_BYTES_PER_SECOND, config.WORKSPACE_BURST_BYTES),
  };
}
