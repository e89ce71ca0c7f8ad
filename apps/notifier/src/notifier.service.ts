import { randomInt } from 'node:crypto';
import { createAuditTrail } from '@tollkeeper/audit-trail';
import { DELIVERIES_TOPIC_OPTIONS, identityService } from '@tollkeeper/contracts';
import { createConsumerGroup, createOutbox, observeOutboxes } from '@tollkeeper/event-log';
import { createGrpcClient, createGrpcServer } from '@tollkeeper/grpc';
import { createHttpServer } from '@tollkeeper/http';
import { type AddressGuard, createAddressGuard, createNameResolver, type ResolveName } from '@tollkeeper/net';
import { assembleService, type Component, inBackground, type ServesGrpc, type ServesHttp } from '@tollkeeper/runtime';
import { createSecretCipher, createServiceBase, type DataServiceDeps, type ServiceBase } from '@tollkeeper/service';
import { createChannelDirectory } from './channels/channel.directory.ts';
import { createChannelRoutes } from './channels/channel.routes.ts';
import { createChannelStore } from './channels/channel.store.ts';
import { createChannelUseCases } from './channels/channel.use-cases.ts';
import { createReaderStore } from './channels/email/reader.store.ts';
import { createTestSender } from './channels/test.sender.ts';
import { createAlertLinks, createSlugs } from './clients/identity.client.ts';
import type { NotifierConfig } from './config.ts';
import { CONSUMER_GROUP, createNotificationsConsumer } from './consumers/notifications.consumer.ts';
import { createDeliveryMetrics } from './delivery/delivery.metrics.ts';
import { createDeliveryStep } from './delivery/delivery.step.ts';
import { createDeliveryTracing, traceSending } from './delivery/delivery.tracing.ts';
import { createDeliveryWorker } from './delivery/delivery.worker.ts';
import { createHttpsSender } from './delivery/https.sender.ts';
import { createOutcomePublisher } from './delivery/outcome.publisher.ts';
import { attemptDelivery } from './domain/attempt-delivery.ts';
import type { HttpsRequest, MailRequest, Send, SendRequest } from './domain/destination.request.ts';
import { createNotifierHandlers } from './grpc/notifier.handlers.ts';
import { createMailing } from './mailing.ts';
import { createDeliveryStore } from './store/delivery.store.ts';

export interface NotifierDeps extends DataServiceDeps<NotifierConfig> {
  /** Resolves the host names of destinations. Default: the DNS. */
  resolveName?: ResolveName;
  /** Milliseconds that a destination may take to answer. Default: 15 s. */
  timeoutMs?: number;
  /** Milliseconds that identity may take to answer for the link of a notification. Default: 0.5 s. */
  linkTimeoutMs?: number;
  /** Milliseconds between two looks for mails to send. Default: 1 s. */
  mailIntervalMs?: number;
  /** Destinations within this process, by their URL. Requests to them do not leave the process. */
  ownDestinations?: ReadonlyMap<string, Send<HttpsRequest>>;
}

/** Manages channels and delivers notifications to them. Addresses are valid once started. */
export type NotifierService = Component & ServesHttp & ServesGrpc;

const OUTCOME_POLL_INTERVAL_MS = 1000;

export function createNotifier(deps: NotifierDeps): NotifierService {
  const base = createServiceBase('notifier', deps);
  const { config, mongo, connection, eventLog, logger, metrics, tracer, clock } = base;
  const store = createDeliveryStore(connection);
  const { channels, readers, outboxes } = createChannels(base);
  const identity = createGrpcClient(identityService, config.IDENTITY_GRPC, base);
  const slugOf = createSlugs(identity, logger, deps.linkTimeoutMs);
  const linkAlert = createAlertLinks({ slugOf, publicUrl: config.PUBLIC_URL, secret: config.CALLER_TOKEN_SECRET });
  const guard = createAddressGuard(config.DESTINATION_ALLOW_CIDRS);
  const mailing = createMailing(base, { channels, readers, slugOf, intervalMs: deps.mailIntervalMs });
  const send = createSender(traceSending(tracer, createDestinations(deps, guard)), mailing.send);
  const attemptDeps = { channels: createChannelDirectory(channels), linkAlert, send, clock, random };

  const publisher = createOutcomePublisher({ store, eventLog, logger, pollIntervalMs: OUTCOME_POLL_INTERVAL_MS });
  const deliveryMetrics = createDeliveryMetrics({ metrics, store, clock, logger });
  const takeStep = createDeliveryStep({
    store,
    channels,
    attempt: (delivery, signal) => attemptDelivery(attemptDeps, delivery, signal),
    inTrace: createDeliveryTracing(tracer),
    onConcluded(delivery, result) {
      deliveryMetrics.observe(delivery, result);
      publisher.wake();
    },
    logger,
  });
  const worker = createDeliveryWorker({
    store,
    takeStep,
    concurrency: config.DELIVERY_CONCURRENCY,
    pollIntervalMs: config.POLL_INTERVAL_MS,
    clock,
    logger,
  });
  const consumer = createNotificationsConsumer({
    group: createConsumerGroup({ ...base, name: CONSUMER_GROUP }),
    store,
    onQueued: worker.wake,
    clock,
  });
  const sendTest = createTestSender({ linkAlert, send, clock });
  const http = createHttpServer({
    ...base,
    routes: [
      ...createChannelRoutes(
        createChannelUseCases({ store: channels, readers, sendsMail: mailing.sendsMail, sendTest, clock }),
        guard.allows,
      ),
      ...mailing.routes,
    ],
  });
  const grpc = createGrpcServer({
    ...base,
    services: [createNotifierHandlers(channels)],
  });
  const prepared: Component = {
    name: 'channel-keys',
    start: () => channels.requireKeys(),
    stop: async () => undefined,
  };

  // Without the log, channels work and queued deliveries are made.
  const queueing = inBackground(consumer, logger);
  // Parts stop in reverse order: first the intake ends, then attempts finish, then the last outcomes are published.
  // Identity is not required to be ready: without it, links lack the workspace.
  const parts = [mongo, prepared, identity, ...outboxes, ...mailing.parts, publisher, worker, queueing];
  return assembleService({ ...base, parts, grpc, http });
}

/** The store of channels, and the outboxes for the audit log and alerts. */
function createChannels(base: ServiceBase<NotifierConfig>) {
  const { config, connection, clock } = base;
  const trail = createAuditTrail(base);
  const outbox = createOutbox({ ...base, topic: DELIVERIES_TOPIC_OPTIONS, collection: 'channel_outbox' });
  const outboxes = [outbox, trail.outbox];
  observeOutboxes(base, outboxes);
  const cipher = createSecretCipher(config.CHANNEL_ENCRYPTION_KEYS);
  const readers = createReaderStore({ connection, trail, clock });
  return { channels: createChannelStore({ connection, cipher, trail, readers, outbox, clock }), readers, outboxes };
}

/** Sends https requests, to destinations of this process without leaving it. */
function createDestinations(deps: NotifierDeps, guard: AddressGuard): Send<HttpsRequest> {
  const { resolveName = createNameResolver(), timeoutMs, ownDestinations } = deps;
  const sender = createHttpsSender({ guard, resolve: resolveName, ...(timeoutMs !== undefined && { timeoutMs }) });
  return (request, signal) => (ownDestinations?.get(request.url) ?? sender)(request, signal);
}

function createSender(sendHttps: Send<HttpsRequest>, sendMails: Send<MailRequest>): SendRequest {
  return (request, signal) => {
    switch (request.via) {
      case 'https':
        return sendHttps(request, signal);
      case 'mail':
        return sendMails(request, signal);
    }
  };
}

const RANDOM_STEPS = 2 ** 32;

/** In [0, 1), for jitter. */
function random(): number {
  return randomInt(RANDOM_STEPS) / RANDOM_STEPS;
}
