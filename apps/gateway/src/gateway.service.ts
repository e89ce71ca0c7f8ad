import { identityService, intakePathOf } from '@tollkeeper/contracts';
import { createGrpcClient } from '@tollkeeper/grpc';
import {
  createBodyBudget,
  createErrorAnswerer,
  createHttpListener,
  createRefusalCounter,
  observeBodies,
  tokenKey,
} from '@tollkeeper/http';
import type { BodyBudget, CountRefusal, ErrorAnswerer } from '@tollkeeper/http';
import { assembleService } from '@tollkeeper/runtime';
import type { Component, ServesHttp, ServiceDeps } from '@tollkeeper/runtime';
import { createSessionDirectory } from './clients/session.directory.ts';
import type { GatewayConfig } from './config.ts';
import type { Upstream } from './domain/area.ts';
import { createEdgeHeaders } from './http/edge-headers.ts';
import { createEdge } from './http/edge.ts';
import type { EdgeResponse } from './http/exchange.ts';
import { executeRoute } from './http/execute.ts';
import { createForwarder } from './http/forward.ts';
import { createPagesProxy } from './http/pages.proxy.ts';
import { createWaitingBodies } from './http/waiting.bodies.ts';
import { createPublishedDocument } from './openapi/published-document.ts';

export type GatewayDeps = ServiceDeps<GatewayConfig>;

/**
 * The edge of Tollkeeper: finds who is calling, in which workspace and with which access, and forwards to the service.
 */
export type GatewayService = Component & ServesHttp;

/** Memory for bodies on their way to one service. It also bounds how many of the service's places large bodies take. */
const BODY_BUDGET_BYTES = 16 * 1024 * 1024;

export function createGateway(deps: GatewayDeps): GatewayService {
  const { config, logger, metrics, tracer } = deps;
  const key = tokenKey(config.CALLER_TOKEN_SECRET);
  const upstreams: Record<Upstream, string> = {
    identity: config.IDENTITY_HTTP,
    dashboard: config.DASHBOARD_HTTP,
    budgets: config.BUDGETS_HTTP,
    alerts: config.ALERTS_HTTP,
    notifier: config.NOTIFIER_HTTP,
    keys: config.KEYS_HTTP,
    ingest: config.INGEST_HTTP,
    enforcer: config.ENFORCER_HTTP,
    audit: config.AUDIT_HTTP,
  };
  const identity = createGrpcClient(identityService, config.IDENTITY_GRPC, deps);
  const sessions = createSessionDirectory({ identity, tokenKey: key, cacheMs: config.SESSION_CACHE_MS });
  const edgeHeaders = createEdgeHeaders(config.PUBLIC_URL);
  const answerFailure = createErrorAnswerer(logger);
  const answerError: ErrorAnswerer = (error, req, res) => {
    if (!res.headersSent) edgeHeaders.setForApi(res as EdgeResponse);
    answerFailure(error, req, res);
  };
  const answering = { timeoutMs: config.UPSTREAM_TIMEOUT_MS, edgeHeaders, answerError };
  const forwarder = createForwarder({ upstreams, tokenKey: key, sessions, ...answering });
  const pages = createPagesProxy({ origin: config.CONSOLE_HTTP, ...answering });
  const countRefusal = createRefusalCounter(metrics);
  const budgets = createBodyBudgets(countRefusal);
  observeBodies(metrics, Object.values(budgets));
  const listener = createHttpListener({
    name: 'http (gateway)',
    metrics,
    countRefusal,
    resendsAfter503: (path) => intakePathOf(path) !== undefined,
    host: config.HOST,
    port: config.HTTP_PORT,
    listener: createEdge({
      publicUrl: config.PUBLIC_URL,
      trustedProxies: config.TRUSTED_PROXIES,
      loginAttemptsPerMinute: config.LOGIN_ATTEMPTS_PER_MINUTE,
      inFlightPerSender: config.IN_FLIGHT_PER_SENDER,
      inFlightPerAddress: config.IN_FLIGHT_PER_ADDRESS,
      publicBytesPerSecond: config.PUBLIC_BYTES_PER_SECOND,
      countRefusal,
      bodies: createWaitingBodies({ budgets, answerError }),
      sessions,
      published: createPublishedDocument({ upstreams, routes: [executeRoute], logger }),
      forward: forwarder.forward,
      sendPage: pages.send,
      edgeHeaders,
      answerError,
      logger,
      metrics,
      tracer,
    }),
  });
  const connections: Component = {
    name: 'upstream-connections',
    start: async () => {},
    async stop() {
      pages.close();
      await forwarder.close();
    },
  };
  // Without identity, requests that need no session (above all events) still work; the others get 503.
  return assembleService({ name: 'gateway', logger, parts: [identity, connections], http: listener });
}

function createBodyBudgets(countRefusal: CountRefusal): Record<Upstream, BodyBudget> {
  const create = () => createBodyBudget({ budgetBytes: BODY_BUDGET_BYTES, countRefusal });
  return {
    identity: create(),
    dashboard: create(),
    budgets: create(),
    alerts: create(),
    notifier: create(),
    keys: create(),
    ingest: create(),
    enforcer: create(),
    audit: create(),
  };
}
