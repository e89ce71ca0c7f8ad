import { GATEWAY_EVENTS_TOPIC, GATEWAY_EVENTS_TOPIC_OPTIONS, keysService } from '@tollkeeper/contracts';
import { type EventLog, instrumentEventLog } from '@tollkeeper/event-log';
import { createGrpcClient } from '@tollkeeper/grpc';
import { createHttpServer } from '@tollkeeper/http';
import { type Clock, systemClock, type TenantId } from '@tollkeeper/kernel';
import {
  assembleService,
  type Component,
  type Logger,
  type Metrics,
  type ServesHttp,
  type ServiceDeps,
} from '@tollkeeper/runtime';
import { LRUCache } from 'lru-cache';
import { createKeyVerifier } from './clients/key.verifier.ts';
import type { IngestConfig } from './config.ts';
import { createEventIntake } from './domain/event.intake.ts';
import { type Bucket, createEventQuota, type EventQuota } from './domain/event.quota.ts';
import { createEventRoutes } from './http/event.routes.ts';
import { createKeyAuthenticator } from './http/key.authenticator.ts';

export interface IngestDeps extends ServiceDeps<IngestConfig> {
  /** Started before this service and stopped after it. */
  eventLog: EventLog;
  clock?: Clock;
  /** Monotonic milliseconds. */
  now?: () => number;
}

/** Takes events with a workspace key, as CloudEvents, and appends them to the log. `httpUrl` is valid once started. */
export type IngestService = Component & ServesHttp;

export function createIngest(deps: IngestDeps): IngestService {
  const { config, logger, metrics, tracer, clock = systemClock, now = () => performance.now() } = deps;
  const eventLog = instrumentEventLog(deps.eventLog, { metrics, tracer });
  const keys = createGrpcClient(keysService, config.KEYS_GRPC, deps);
  const accepted = metrics.counter({ name: 'ingest_events_accepted_total', help: 'Events that the log has durably' });
  const intake = createEventIntake({
    clock,
    async append(records) {
      await eventLog.append(GATEWAY_EVENTS_TOPIC, records);
      accepted.inc(records.length);
    },
  });
  const quota = createQuota(config, { logger, metrics, now });
  const authenticator = createKeyAuthenticator(createKeyVerifier(keys, now), quota);
  const http = createHttpServer({
    ...deps,
    routes: createEventRoutes({ intake, authenticator, quota, clock }),
    service: 'ingest',
    title: 'Tollkeeper event ingestion',
    bodyBudgetBytes: config.BODY_BUDGET_BYTES,
  });
  const topic: Component = {
    name: 'events-topic',
    start: () => eventLog.ensureTopic(GATEWAY_EVENTS_TOPIC_OPTIONS),
    async stop() {},
  };
  // Without the keys service, only keys that were checked a moment ago are accepted. The answer to each other request
  // says so, so the service stays ready.
  return assembleService({ name: 'ingest', logger, parts: [topic, keys], http });
}

/** Most workspaces whose quota is remembered. The one that has not sent for the longest time is forgotten first. */
const MAX_BUCKETS = 10_000;
/** Milliseconds between two log lines about the same workspace over its quota. */
const TELL_EVERY_MS = 60_000;

function createQuota(
  config: IngestConfig,
  { logger, metrics, now }: { logger: Logger; metrics: Metrics; now: () => number },
): EventQuota {
  const perf = { now };
  const told = new LRUCache<TenantId, true>({ max: MAX_BUCKETS, ttl: TELL_EVERY_MS, ttlResolution: 0, perf });
  const refused = metrics.counter({
    name: 'ingest_requests_over_quota_total',
    help: 'Requests refused because their workspace sent more events than it may',
  });
  return createEventQuota({
    eventsPerSecond: config.WORKSPACE_EVENTS_PER_SECOND,
    burstEvents: config.WORKSPACE_BURST_EVENTS,
    buckets: new LRUCache<TenantId, Bucket>({ max: MAX_BUCKETS }),
    now,
    onRefused(tenantId) {
      refused.inc();
      if (told.has(tenantId)) return;
      told.set(tenantId, true);
      logger.warn({ tenant_id: tenantId }, 'a workspace sends more events than WORKSPACE_EVENTS_PER_SECOND allows');
    },
  });
}
