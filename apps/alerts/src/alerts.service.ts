import { createAuditTrail } from '@tollkeeper/audit-trail';
import { budgetsService, identityService, NOTIFICATIONS_TOPIC_OPTIONS, notifierService } from '@tollkeeper/contracts';
import { type ConsumerGroup, createConsumerGroup, createOutbox, observeOutboxes } from '@tollkeeper/event-log';
import { createGrpcClient } from '@tollkeeper/grpc';
import { createHttpServer } from '@tollkeeper/http';
import { assembleService, type Component, createLoop, inBackground, type ServesHttp } from '@tollkeeper/runtime';
import { createServiceBase, type DataServiceDeps, type ServiceBase } from '@tollkeeper/service';
import { createBudgetReader } from './clients/budgets.client.ts';
import { createAgentDirectory } from './clients/identity.client.ts';
import { createChannelDirectory } from './clients/notifier.client.ts';
import type { AlertsConfig } from './config.ts';
import { CONSUMER_GROUP, createGatewayEventsConsumer } from './consumers/gateway-events.consumer.ts';
import { createNotifierReportsConsumer } from './consumers/notifier-reports.consumer.ts';
import type { BudgetReader } from './domain/budget.terms.ts';
import { createAlertUseCases } from './domain/alert.use-cases.ts';
import { createMuteUseCases } from './domain/mute.use-cases.ts';
import { createRuleBook } from './domain/rule-book.ts';
import { createRuleUseCases } from './domain/rule.use-cases.ts';
import { createAlertResolver } from './evaluation/alert.resolver.ts';
import { createBudgetBook } from './evaluation/budget.book.ts';
import { createEvaluationMetrics } from './evaluation/evaluation.metrics.ts';
import { createFireTraces } from './evaluation/fire.traces.ts';
import { createRuleWatcher } from './evaluation/rule.watcher.ts';
import { createWindowMemory } from './evaluation/window.memory.ts';
import { createAlertRoutes } from './http/alert.routes.ts';
import { createMuteRoutes } from './http/mute.routes.ts';
import { createRuleRoutes } from './http/rule.routes.ts';
import { createSystemRoutes } from './http/system.routes.ts';
import { registerQueueMetrics } from './queue.metrics.ts';
import { createAlertStores, type AlertStores } from './store/alert.stores.ts';
import { createGroupRelease } from './store/group.release.ts';
import { createHeldRelease } from './store/held.release.ts';

/** Milliseconds between two looks at the budgets that rules are about. */
const BUDGETS_INTERVAL_MS = 2000;
/** How long evaluation, and a change of a rule, wait for budgets. */
const EVALUATION_WAITS_MS = 1000;
const RULE_CHANGES_WAIT_MS = 2000;

export type AlertsDeps = DataServiceDeps<AlertsConfig>;

/** Alert rules, their evaluation, and the alert history. `httpUrl` is valid once started. */
export interface AlertsService extends Component, ServesHttp {
  /** Number of records of `gateway.events` that are not yet evaluated, or whose evaluation is not yet stored. */
  lag(): Promise<number>;
}

export function createAlerts(deps: AlertsDeps): AlertsService {
  const base = createServiceBase('alerts', deps);
  const { config, mongo, logger, clock } = base;
  const group = createConsumerGroup({ ...base, name: CONSUMER_GROUP });
  const trail = createAuditTrail(base);
  const dispatcher = createOutbox({
    ...base,
    topic: NOTIFICATIONS_TOPIC_OPTIONS,
    collection: 'outbox',
    intervalMs: config.DISPATCH_INTERVAL_MS,
  });
  observeOutboxes(base, [dispatcher, trail.outbox]);
  const stores = createAlertStores({
    ...base,
    trail,
    outbox: dispatcher,
    offsets: group.offsets,
    retentionSeconds: config.HISTORY_RETENTION_SECONDS,
  });
  const reports = createNotifierReportsConsumer({ ...stores, group });
  registerQueueMetrics({ ...base, ...stores });

  const identity = createGrpcClient(identityService, config.IDENTITY_GRPC, base);
  const notifier = createGrpcClient(notifierService, config.NOTIFIER_GRPC, base);
  const budgets = createGrpcClient(budgetsService, config.BUDGETS_GRPC, base);
  const readBudgets = createBudgetReader({ budgets, identity }, EVALUATION_WAITS_MS);
  const evaluation = createEvaluation({ ...base, stores, group, readBudgets, onQueued: dispatcher.wake });
  const channels = createChannelDirectory(notifier);
  const rules = createRuleUseCases({
    store: stores.rules,
    evaluations: stores.evaluations,
    agents: createAgentDirectory(identity),
    channels,
    readBudgets: createBudgetReader({ budgets, identity }, RULE_CHANGES_WAIT_MS),
    clock,
  });
  const alerts = createAlertUseCases({ store: stores.alerts, mutes: stores.mutes, clock, onQueued: dispatcher.wake });
  const mutes = createMuteUseCases({ store: stores.mutes, clock });
  const releaseLoop = (name: string, work: () => Promise<void>) =>
    createLoop({ ...base, name, work, intervalMs: config.DISPATCH_INTERVAL_MS });
  const releases = [
    releaseLoop('release of held messages', createHeldRelease({ ...base, ...stores }, dispatcher.wake).releaseDue),
    releaseLoop('release of grouped messages', createGroupRelease({ ...base, ...stores }, dispatcher.wake).releaseDue),
  ];
  const http = createHttpServer({
    ...base,
    routes: [
      ...createSystemRoutes({
        evaluator: evaluation.loops[0],
        dispatcher,
        countUndelivered: stores.notifications.countUndelivered,
        countEnabledRules: stores.rules.countEnabled,
        countChannels: channels.count,
        notEvaluatedSince: stores.setAside.since,
      }),
      ...createRuleRoutes(rules),
      ...createMuteRoutes(mutes, clock),
      ...createAlertRoutes(alerts),
    ],
  });
  // Not required to be ready: alerts are decided and dispatched without its peers.
  const peers = [identity, notifier, budgets];
  // Rules and history work without the log.
  const consumers = [evaluation.consumer, reports].map((consumer) => inBackground(consumer, logger));
  const work = [dispatcher, trail.outbox, ...releases, ...consumers, ...evaluation.loops];
  const parts = [mongo, ...peers, ...work];
  return Object.assign(assembleService({ ...base, parts, http }), {
    lag: evaluation.consumer.lag,
  });
}

/** Evaluates events as they arrive. A loop does the timed work: it saves progress and resolves lapsed alerts. */
function createEvaluation(
  base: ServiceBase<AlertsConfig> & {
    stores: AlertStores;
    group: ConsumerGroup;
    readBudgets: BudgetReader;
    onQueued: () => void;
  },
) {
  const { config, clock, stores, group, readBudgets, onQueued } = base;
  const book = createRuleBook();
  const metrics = createEvaluationMetrics({ ...base, book });
  const memory = createWindowMemory({ ...base, budgetBytes: config.WINDOW_MEMORY_BYTES });
  const watcher = createRuleWatcher({ book, changes: stores.changes, rules: stores.rules });
  const budgets = createBudgetBook({ ...base, book, read: readBudgets });
  const consumer = createGatewayEventsConsumer({
    ...base,
    budgets,
    group,
    recorder: stores.recorder,
    book,
    watcher,
    memory,
    metrics,
    traces: createFireTraces(base.tracer),
    onFired: onQueued,
  });
  const { alerts, windows } = stores;
  const resolver = createAlertResolver({ alerts, windows, log: consumer, metrics, clock, onResolved: onQueued });
  const loop = createLoop({
    ...base,
    name: 'evaluator',
    async work() {
      await consumer.save();
      await resolver.resolveLapsed();
    },
    intervalMs: config.EVALUATION_INTERVAL_MS,
  });
  const refresh = createLoop({
    ...base,
    name: 'budgets',
    work: budgets.refresh,
    intervalMs: BUDGETS_INTERVAL_MS,
  });
  return { consumer, loops: [loop, refresh] as const };
}
