import { createAuditTrail } from '@tollkeeper/audit-trail';
import { identityService, NOTIFICATIONS_TOPIC_OPTIONS, notifierService } from '@tollkeeper/contracts';
import {
  type ConsumerGroup,
  createConsumerGroup,
  createOutbox,
  type EventLog,
  instrumentEventLog,
  observeOutboxes,
} from '@tollkeeper/event-log';
import { createGrpcClient } from '@tollkeeper/grpc';
import { createHttpServer } from '@tollkeeper/http';
import { type Clock, systemClock } from '@tollkeeper/kernel';
import { connectMongo, explainOutage } from '@tollkeeper/mongo';
import {
  assembleService,
  type Component,
  createLoop,
  inBackground,
  type ServesHttp,
  type ServiceDeps,
} from '@tollkeeper/runtime';
import { createAgentDirectory } from './clients/identity.client.ts';
import { createChannelDirectory } from './clients/notifier.client.ts';
import type { AlertsConfig } from './config.ts';
import { CONSUMER_GROUP, createGatewayEventsConsumer } from './consumers/gateway-events.consumer.ts';
import { createNotifierReportsConsumer } from './consumers/notifier-reports.consumer.ts';
import { createAlertUseCases } from './domain/alert.use-cases.ts';
import { createRuleBook } from './domain/rule-book.ts';
import { createRuleUseCases } from './domain/rule.use-cases.ts';
import { createAlertResolver } from './evaluation/alert.resolver.ts';
import { createEvaluationMetrics } from './evaluation/evaluation.metrics.ts';
import { createFireTraces } from './evaluation/fire.traces.ts';
import { createRuleWatcher } from './evaluation/rule.watcher.ts';
import { createWindowMemory } from './evaluation/window.memory.ts';
import { createAlertRoutes } from './http/alert.routes.ts';
import { createRuleRoutes } from './http/rule.routes.ts';
import { createSystemRoutes } from './http/system.routes.ts';
import { registerQueueMetrics } from './queue.metrics.ts';
import { createAlertStores, type AlertStores } from './store/alert.stores.ts';

export interface AlertsDeps extends ServiceDeps<AlertsConfig> {
  /** Started before the service and stopped after it. */
  eventLog: EventLog;
  clock?: Clock;
}

/** Alert rules, their evaluation, and what came of it. `httpUrl` is valid once started. */
export interface AlertsService extends Component, ServesHttp {
  /** Records of `gateway.events` that are not evaluated, or not stored as evaluated, yet. */
  lag(): Promise<number>;
}

export function createAlerts(given: AlertsDeps): AlertsService {
  const { config, logger, metrics, tracer, clock = systemClock } = given;
  const deps = { ...given, eventLog: instrumentEventLog(given.eventLog, { metrics, tracer }) };
  const mongo = connectMongo({ uri: config.MONGODB_URI, database: config.MONGODB_DATABASE, logger });
  const { connection } = mongo;
  const group = createConsumerGroup({ ...deps, name: CONSUMER_GROUP, connection });
  const trail = createAuditTrail({ ...deps, connection, clock });
  const dispatcher = createOutbox({
    ...deps,
    connection,
    topic: NOTIFICATIONS_TOPIC_OPTIONS,
    collection: 'outbox',
    clock,
    intervalMs: config.DISPATCH_INTERVAL_MS,
  });
  observeOutboxes({ ...deps, clock }, [dispatcher, trail.outbox]);
  const stores = createAlertStores({
    connection,
    trail,
    outbox: dispatcher,
    offsets: group.offsets,
    retentionSeconds: config.HISTORY_RETENTION_SECONDS,
    clock,
  });
  const evaluation = createEvaluation({ ...deps, clock, stores, group, onQueued: dispatcher.wake });
  const reports = createNotifierReportsConsumer({ ...stores, group });
  registerQueueMetrics({ ...deps, clock, notifications: stores.notifications });

  const identity = createGrpcClient(identityService, config.IDENTITY_GRPC, deps);
  const notifier = createGrpcClient(notifierService, config.NOTIFIER_GRPC, deps);
  const channels = createChannelDirectory(notifier);
  const rules = createRuleUseCases({
    store: stores.rules,
    evaluations: stores.evaluations,
    agents: createAgentDirectory(identity),
    channels,
    clock,
  });
  const alerts = createAlertUseCases({ store: stores.alerts, clock, onResolved: dispatcher.wake });
  const http = createHttpServer({
    ...deps,
    routes: [
      ...createSystemRoutes({
        evaluator: evaluation.loop,
        dispatcher,
        countUndelivered: stores.notifications.countUndelivered,
        countEnabledRules: stores.rules.countEnabled,
        countChannels: channels.count,
        notEvaluatedSince: stores.setAside.since,
      }),
      ...createRuleRoutes(rules),
      ...createAlertRoutes(alerts),
    ],
    service: 'alerts',
    title: 'Tollkeeper alerts',
    explain: explainOutage,
  });
  // Peers cost a few calls only: alerts are decided and dispatched without them.
  const peers = [identity, notifier];
  // Rules and history are there without the log.
  const consumers = [evaluation.consumer, reports].map((consumer) => inBackground(consumer, logger));
  const work = [dispatcher, trail.outbox, ...consumers, evaluation.loop];
  const parts = [mongo, ...peers, ...work];
  return Object.assign(assembleService({ name: 'alerts', logger, parts, http }), {
    lag: evaluation.consumer.lag,
  });
}

/**
 * The evaluation of events as they come, and a loop for what the clock does: storing what was read, resolving what is
 * over.
 */
function createEvaluation(
  deps: AlertsDeps & {
    clock: Clock;
    stores: AlertStores;
    group: ConsumerGroup;
    onQueued: () => void;
  },
) {
  const { config, eventLog, logger, clock, stores, group, onQueued } = deps;
  const book = createRuleBook();
  const metrics = createEvaluationMetrics({ metrics: deps.metrics, book, clock });
  const memory = createWindowMemory({ ...deps, budgetBytes: config.WINDOW_MEMORY_BYTES });
  const watcher = createRuleWatcher({ book, changes: stores.changes, rules: stores.rules });
  const consumer = createGatewayEventsConsumer({
    eventLog,
    group,
    recorder: stores.recorder,
    book,
    watcher,
    memory,
    metrics,
    traces: createFireTraces(deps.tracer),
    clock,
    onFired: onQueued,
  });
  const { alerts, windows } = stores;
  const resolver = createAlertResolver({ alerts, windows, log: consumer, metrics, clock, onResolved: onQueued });
  const loop = createLoop({
    name: 'evaluator',
    async work() {
      await consumer.save();
      await resolver.resolveLapsed();
    },
    intervalMs: config.EVALUATION_INTERVAL_MS,
    logger,
    clock,
  });
  return { consumer, loop };
}
