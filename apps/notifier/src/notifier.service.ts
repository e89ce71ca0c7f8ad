import { randomInt } from 'node:crypto';
import { alertsService, identityService } from '@tollkeeper/contracts';
import { createConsumerGroup, type EventLog, instrumentEventLog } from '@tollkeeper/event-log';
import { createGrpcClient, createGrpcServer } from '@tollkeeper/grpc';
import { type Clock, systemClock } from '@tollkeeper/kernel';
import { connectMongo, explainOutage } from '@tollkeeper/mongo';
import { createAddressGuard } from '@tollkeeper/net';
import { assembleService, type Component, inBackground, type ServesGrpc, type ServiceDeps } from '@tollkeeper/runtime';
import { cachedChannels, createChannelDirectory } from './clients/alerts.client.ts';
import { createAlertUrl } from './clients/identity.client.ts';
import type { NotifierConfig } from './config.ts';
import { CONSUMER_GROUP, createNotificationsConsumer } from './consumers/notifications.consumer.ts';
import { createDeliveryMetrics } from './delivery/delivery.metrics.ts';
import { createDeliveryTracing, traceSending } from './delivery/delivery.tracing.ts';
import { createDeliveryWorker } from './delivery/delivery.worker.ts';
import { createHttpsSender } from './delivery/https.sender.ts';
import { createNameResolver, type ResolveName } from './delivery/name.resolver.ts';
import { createOutcomePublisher } from './delivery/outcome.publisher.ts';
import { attemptDelivery } from './domain/attempt-delivery.ts';
import type { SendRequest } from './domain/destination.request.ts';
import { createTestChannel } from './domain/test-channel.ts';
import { createNotifierHandlers } from './grpc/notifier.handlers.ts';
import { createDeliveryStore } from './store/delivery.store.ts';

export interface NotifierDeps extends ServiceDeps<NotifierConfig> {
  /** Started before the service and stopped after it. */
  eventLog: EventLog;
  clock?: Clock;
  /** Resolves the host names of destinations. Default: the DNS. */
  resolveName?: ResolveName;
  /** Milliseconds that a destination may take to answer. Default: 15 s. */
  timeoutMs?: number;
  /** Destinations within this process, by their URL. What goes to them does not leave the process. */
  ownDestinations?: ReadonlyMap<string, SendRequest>;
}

/** Delivers notifications to their channels. `grpcAddress` is valid once started. */
export type NotifierService = Component & ServesGrpc;

const OUTCOME_POLL_INTERVAL_MS = 1000;

export function createNotifier(deps: NotifierDeps): NotifierService {
  const { config, logger, metrics, tracer, clock = systemClock, resolveName = createNameResolver(), timeoutMs } = deps;
  const eventLog = instrumentEventLog(deps.eventLog, { metrics, tracer });
  const mongo = connectMongo({ uri: config.MONGODB_URI, database: config.MONGODB_DATABASE, logger });
  const { connection } = mongo;
  const store = createDeliveryStore(connection);
  const alerts = createGrpcClient(alertsService, config.ALERTS_GRPC, deps);
  const identity = createGrpcClient(identityService, config.IDENTITY_GRPC, deps);
  const channels = createChannelDirectory(alerts);
  const alertUrl = createAlertUrl(identity, config.PUBLIC_URL, logger);
  const guard = createAddressGuard(config.DESTINATION_ALLOW_CIDRS);
  const sender = createHttpsSender({ guard, resolve: resolveName, ...(timeoutMs !== undefined && { timeoutMs }) });
  const send = traceSending(tracer, (request, signal) =>
    (deps.ownDestinations?.get(request.url) ?? sender)(request, signal),
  );
  const attemptDeps = { channels: cachedChannels(channels, clock), alertUrl, send, clock, random };

  const publisher = createOutcomePublisher({ store, eventLog, logger, pollIntervalMs: OUTCOME_POLL_INTERVAL_MS });
  const deliveryMetrics = createDeliveryMetrics({ metrics, store, clock, logger });
  const worker = createDeliveryWorker({
    store,
    attempt: (delivery, signal) => attemptDelivery(attemptDeps, delivery, signal),
    inTrace: createDeliveryTracing(tracer),
    onSettled(delivery, result) {
      deliveryMetrics.observe(delivery, result);
      publisher.wake();
    },
    concurrency: config.DELIVERY_CONCURRENCY,
    pollIntervalMs: config.POLL_INTERVAL_MS,
    clock,
    logger,
  });
  const consumer = createNotificationsConsumer({
    group: createConsumerGroup({ name: CONSUMER_GROUP, eventLog, connection, metrics, logger }),
    store,
    onQueued: worker.wake,
    clock,
  });
  const grpc = createGrpcServer({
    ...deps,
    services: [createNotifierHandlers(createTestChannel({ channels, alertUrl, send, clock }))],
    explain: explainOutage,
    ready: () => mongo.ping(),
  });

  // Without alerts, deliveries wait. Without identity, links lack the workspace. The notifier stays ready in both
  // cases.
  const peers = [alerts, identity];
  // Queued deliveries are made without the log.
  const queueing = inBackground(consumer, logger);
  // Parts stop in reverse order: first the intake ends, then attempts finish, then the last outcomes are published.
  const parts = [mongo, ...peers, publisher, worker, queueing];
  return assembleService({ name: 'notifier', logger, parts, grpc });
}

const RANDOM_STEPS = 2 ** 32;

/** In [0, 1), for jitter. */
function random(): number {
  return randomInt(RANDOM_STEPS) / RANDOM_STEPS;
}
